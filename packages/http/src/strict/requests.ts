import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { announcedBytes, requestsOf } from '../bodies/admit-body.ts';
import { hasMoreValues } from '../bodies/count-values.ts';
import {
  errorCodes,
  type FastifyBodyParser,
  type FastifyInstance,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify';

/** Connections on which a head was refused: who knows where its message ends, and whose the next one is. */
const distrusted = new WeakSet<Socket>();

/**
 * The hook that every request passes first: gives the answer its id, and refuses heads that Node lets pass. What came
 * behind such a head on the same connection is not carried out: the connection is closed, and nobody would be answered.
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

/** What a proxy in front may have understood in another way (RFC 9112, 2.3, 3.2 and 6.1); null where there is nothing. */
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

/** Fastify drops whatever JavaScript takes for a blank around it; HTTP has two. */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;
const WIDE_CHARSET = /;[\t ]*charset="?(?:utf-?16|utf-?32|ucs-?2)/i;

/** Values that a body may have, unknown fields included. A bulk call may have 64 for each of 1,000 registrations. */
const mostValues = ({ routeOptions }: FastifyRequest) => (routeOptions.config.countsBySize ? 65_536 : 1_024);

/** A body that is not parsed. The caller reads the message. */
export class RefusedBody extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/**
 * Makes application/json the only type of body that is read. It has to be UTF-8: Fastify's own parser would put U+FFFD
 * in place of what is not, and a registration would be stored as something else than was sent.
 */
export function readJsonBodies(app: FastifyInstance): void {
  // Unknown fields are ignored, and "__proto__" is one.
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  const read: FastifyBodyParser<Buffer> = (request, body, done) => {
    const type = request.headers['content-type']!;
    const coding = request.headers['content-encoding'];
    if (!JSON_TYPE.test(type)) done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type));
    else if (coding !== undefined && coding.toLowerCase() !== 'identity')
      done(new RefusedBody(415, 'The body must not be compressed (Content-Encoding)'));
    else if (isWide(body) || WIDE_CHARSET.test(type)) done(new RefusedBody(415, 'The body must be UTF-8'));
    else if (!isUtf8(body)) done(new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY());
    else if (hasMoreValues(body, mostValues(request)))
      done(new RefusedBody(413, `The body has more than ${mostValues(request)} values`));
    else void parse(request, body.toString(), done);
  };
  /** Only now is the size of a chunked body known. */
  const countChunked: typeof read = (request, body, done) => {
    request
      .countAs(requestsOf(request, body.length))
      .then((isPassed) => isPassed && read(request, body, done), done);
  };
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const isChunked = announcedBytes(request) === null;
    if (isChunked && request.routeOptions.config.countsBySize) countChunked(request, body, done);
    else read(request, body, done);
  });
}

/** Whether it is UTF-16 or UTF-32: these begin with a byte order mark, or have NUL next to JSON's first character. */
function isWide(body: Buffer): boolean {
  const first = body[0];
  const second = body[1];
  const isMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMark || first === 0 || second === 0;
}
