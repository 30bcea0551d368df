import type { Socket } from 'node:net';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';

/** Connections on which a head was refused: who knows where its message ends, and whose the next one is. */
const distrusted = new WeakSet<Socket>();

/**
 * The hook that every request passes first: gives the answer its id, and refuses heads that Node lets pass. Requests
 * behind such a head on the same connection are ignored: the connection is closed, so they could not be answered.
 */
export const checkHead: onRequestHookHandler = (request, reply, done) => {
  const { socket } = request.raw;
  if (distrusted.has(socket)) return void reply.hijack();
  void reply.header('x-request-id', request.id);
  const fault = faultOf(request);
  // No upgrade is made, and Node drops what a client has sent behind such a request: it must not wait for an answer.
  if (fault || request.headers.upgrade !== undefined) void reply.header('connection', 'close');
  if (!fault) return done();
  distrusted.add(socket);
  reply.fail('10', { message: fault });
};

/** A host with an optional port (RFC 9110, 7.2; RFC 3986, 3.2.2). Empty is a request to no authority. */
const HOST = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[0-9a-f]{2})*)(?::[0-9]*)?$/i;

/** Returns the ambiguity that a proxy in front may read differently (RFC 9112, 2.3, 3.2 and 6.1), or null. */
function faultOf({ headers, raw: { httpVersion } }: FastifyRequest): string | null {
  const { host } = headers;
  const coding = headers['transfer-encoding'];
  if (host !== undefined && !HOST.test(host)) {
    return host.includes(',') ? 'There must be one Host header' : 'The Host header is not well-formed';
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'Transfer-Encoding must be chunked';
  if (httpVersion === '1.1') return host === undefined ? 'The Host header is missing' : null;
  // Node reads 0.9 and 2.0 as if they were 1.1.
  if (httpVersion !== '1.0') return 'The version must be HTTP/1.1 or HTTP/1.0';
  return coding === undefined ? null : 'HTTP/1.0 knows no Transfer-Encoding';
}
