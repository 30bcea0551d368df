import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { parse as parsePairs } from 'node:querystring';
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { errorCodes, type FastifyInstance, type FastifyRequest, type onRequestHookHandler } from 'fastify';

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

/**
 * Returns the parameters of a query. `after[]=1` counts as `after` given as a list, so that the route's schema refuses it. As a name of its
 * own it would be ignored, and a list would silently start at its beginning.
 */
export function parseQuery(text: string): Record<string, unknown> {
  // Most requests have none.
  if (text === '') return {};
  // Without a limit: parameters beyond it would be ignored as well.
  const query: Record<string, unknown> = parsePairs(text, '&', '=', { maxKeys: 0 });
  for (const name of Object.keys(query)) {
    const bracket = name.indexOf('[');
    if (bracket === -1) continue;
    const list = name.slice(0, bracket);
    query[list] = [query[list] ?? [], query[name]].flat();
    delete query[name];
  }
  return query;
}

/** The size of body that counts as one request, on a route with `countsBySize`. */
const BYTES_PER_REQUEST = 4 * 1024;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a large body counts as several requests against the partner's limit. */
    countsBySize?: boolean;
  }
  interface FastifyRequest {
    /**
     * Counts this request as so many against the partner's limit, including what it was counted as before. Resolves to false
     * when they are too many: then the request is answered.
     */
    countAs(requests: number): Promise<boolean>;
  }
}

/** Returns how many requests a body of so many bytes counts as. */
export function requestsOf({ routeOptions }: FastifyRequest, bytes: number): number {
  // A larger one is refused without being read.
  const isRead = bytes <= routeOptions.bodyLimit;
  return routeOptions.config.countsBySize && isRead ? Math.max(1, Math.ceil(bytes / BYTES_PER_REQUEST)) : 1;
}

/** Returns how many bytes a request announces; null when it is chunked and says nothing. */
export function announcedBytes({ headers }: FastifyRequest): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

/** Fastify drops whatever JavaScript takes for a blank around it; HTTP has two. */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;
const WIDE_CHARSET = /;[\t ]*charset="?(?:utf-?16|utf-?32|ucs-?2)/i;

/** Values that a body may have, unknown fields included. A bulk call may have 64 for each of 1,000 registrations. */
const MOST_VALUES = 1_024;
const MOST_VALUES_IN_BULK = 65_536;

/** The code of an error about a body that is not parsed. The caller reads its message. */
export const REFUSED_BODY = 'REFUSED_BODY';

const refused = (statusCode: number, message: string) =>
  Object.assign(new Error(message), { code: REFUSED_BODY, statusCode });

/**
 * Makes application/json the only type of body that is read. It has to be UTF-8: Fastify's own parser would put U+FFFD
 * in place of what is not, and a registration would be stored as something else than was sent. A route without a schema for
 * its body ignores whatever is sent. Where an object without fields is valid, an empty body is read as one.
 */
export function readBodies(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const schema = route.schema?.body;
    if (route.method === 'GET' || (schema && !mayBeEmpty(schema))) return;
    // Clients send any type or none, often with every request.
    route.preParsing = (request, _reply, _payload, next) => {
      if (!schema || announcedBytes(request) === 0) request.headers['content-type'] = 'application/json';
      next();
    };
  });
  // Unknown fields are ignored, and "__proto__" is one.
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const { schema, config } = request.routeOptions;
    if (!schema?.body) return done(null);
    if (body.length === 0 && mayBeEmpty(schema.body)) return done(null, {});
    const read = () => {
      const refusal = refusalOf(request, body, config.countsBySize ? MOST_VALUES_IN_BULK : MOST_VALUES);
      if (refusal) done(refusal);
      else void parse(request, body.toString(), done);
    };
    if (!config.countsBySize) return read();
    // Only now is the size of a chunked body known.
    request.countAs(requestsOf(request, body.length)).then((isPassed) => isPassed && read(), done);
  });
}

const mayBeEmpty = (schema: unknown) => Value.Check(schema as TSchema, {});

/** Returns why a body is not parsed, or null. */
function refusalOf(request: FastifyRequest, body: Buffer, most: number): Error | null {
  const type = request.headers['content-type']!;
  const coding = request.headers['content-encoding'];
  if (!JSON_TYPE.test(type)) return new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type);
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    return refused(415, 'The body must not be compressed (Content-Encoding)');
  if (isWide(body) || WIDE_CHARSET.test(type)) return refused(415, 'The body must be UTF-8');
  if (!isUtf8(body)) return new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY();
  return hasMoreValues(body, most) ? refused(413, `The body has more than ${most} values`) : null;
}

/** Whether it is UTF-16 or UTF-32: these begin with a byte order mark, or have NUL next to JSON's first character. */
function isWide(body: Buffer): boolean {
  const start = body.toString('latin1', 0, 2);
  return start.includes('\0') || start === '\xff\xfe' || start === '\xfe\xff';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** 1 for each byte that a value follows: comma, opening bracket, opening brace. */
const OPENS_VALUE = new Uint8Array(256);
for (const sign of ',[{') OPENS_VALUE[sign.charCodeAt(0)] = 1;

/**
 * Returns whether a JSON text has more values than `most`, keys not counted, without parsing it: 1 ms for a mebibyte. Each
 * value but the first follows a comma or an opening bracket outside of strings. For malformed JSON the result means nothing.
 */
export function hasMoreValues(json: Buffer, most: number): boolean {
  // The shortest value and its comma are two bytes.
  if (json.length <= 2 * most) return false;
  let count = 1;
  let isString = false;
  for (let at = 0; at < json.length && count <= most; at += 1) {
    const byte = json[at]!;
    if (byte === QUOTE) isString = !isString;
    else if (!isString) count += OPENS_VALUE[byte]!;
    else if (byte === BACKSLASH) at += 1;
  }
  return count > most;
}
