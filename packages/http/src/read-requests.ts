import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { parse as parsePairs } from 'node:querystring';
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { errorCodes, type FastifyInstance, type FastifyRequest, type onRequestHookHandler } from 'fastify';

/**
 * Connections with a refused head. The end of its message is unknown, and so is the sender of the next
 * message.
 */
const distrusted = new WeakSet<Socket>();

/**
 * The first hook of every request. Sets x-request-id, and refuses invalid heads that Node accepts. Later
 * requests on the same connection are ignored: the connection is closed, so they could not be answered.
 */
export const checkHead: onRequestHookHandler = (request, reply, done) => {
  const { socket } = request.raw;
  if (distrusted.has(socket)) return void reply.hijack();
  void reply.header('x-request-id', request.id);
  const fault = faultOf(request);
  // The API does not upgrade. Node discards the data after an upgrade request, so the client must not wait
  // for more answers.
  if (fault || request.headers.upgrade !== undefined) void reply.header('connection', 'close');
  if (!fault) {
    if (request.originalUrl.length <= URL_LIMIT) return done();
    return void reply.fail('10', { message: `The URL is longer than ${URL_LIMIT} characters` });
  }
  distrusted.add(socket);
  reply.fail('10', { message: fault });
};

/** A host with an optional port (RFC 9110, 7.2; RFC 3986, 3.2.2). Empty: the URL has no authority. */
const HOST = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[0-9a-f]{2})*)(?::[0-9]*)?$/i;

/** Maximum length of a URL. The longest valid one has less than half of it. */
const URL_LIMIT = 2_048;

/**
 * Returns the URL that the router gets. The router decodes the path and parses the query before the caller is
 * authenticated, so strangers must not choose how much work that is. checkHead refuses a longer URL.
 */
export const boundUrl = ({ url = '' }: { url?: string | undefined }) => (url.length > URL_LIMIT ? '/' : url);

/** Returns the fault of a head that a proxy may read differently (RFC 9112, 2.3, 3.2 and 6.1), or null. */
function faultOf({ headers, raw: { httpVersion } }: FastifyRequest) {
  const { host } = headers;
  const coding = headers['transfer-encoding'];
  if (host !== undefined && !HOST.test(host)) {
    return host.includes(',') ? 'There must be one Host header' : 'The Host header is not well-formed';
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'Transfer-Encoding must be chunked';
  if (httpVersion === '1.1') return host === undefined ? 'The Host header is missing' : null;
  // Node reads 0.9 and 2.0 as if they were 1.1.
  if (httpVersion !== '1.0') return 'The version must be HTTP/1.1 or HTTP/1.0';
  return coding === undefined ? null : 'HTTP/1.0 does not support Transfer-Encoding';
}

/**
 * Returns the parameters of a query. `after[]=1` becomes a list named `after`, so that the route's schema
 * refuses it. As an unknown parameter it would be ignored, and a list would silently start at its beginning.
 */
export function parseQuery(text: string): Record<string, unknown> {
  // Most requests have no query.
  if (text === '') return {};
  // No limit: parameters beyond a limit would be ignored.
  const query: Record<string, unknown> = parsePairs(text, '&', '=', { maxKeys: 0 });
  for (const name of Object.keys(query).filter((key) => key.includes('['))) {
    const list = name.slice(0, name.indexOf('['));
    query[list] = [query[list] ?? [], query[name]].flat();
    delete query[name];
  }
  return query;
}

/** On a route with `countsBySize`, a body of this size counts as one request. */
const BYTES_PER_REQUEST = 4 * 1024;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a large body counts as several requests against the partner's limit. */
    countsBySize?: boolean;
  }
  interface FastifyRequest {
    /**
     * Counts this request as a number of requests against the partner's limit. The number includes requests
     * that were already counted. Resolves to false if the limit is exceeded. The request is then already
     * answered.
     */
    countAs(requests: number): Promise<boolean>;
  }
}

/** Returns the number of requests that a body of this size counts as. */
export function requestsOf({ routeOptions }: FastifyRequest, bytes: number) {
  // A larger one is refused without being read.
  const isRead = bytes <= routeOptions.bodyLimit;
  return routeOptions.config.countsBySize && isRead ? Math.max(1, Math.ceil(bytes / BYTES_PER_REQUEST)) : 1;
}

/** Returns the announced size of the body, or null if the body is chunked. */
export function announcedBytes({ headers }: FastifyRequest) {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

/** HTTP allows spaces and tabs around the type. Fastify would also remove other white space. */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;
const WIDE_CHARSET = /;[\t ]*charset="?(?:utf-?16|utf-?32|ucs-?2)/i;

/**
 * Maximum number of values in a body, including unknown fields. A bulk call can have 64 for each of 1,000
 * registrations.
 */
const VALUE_LIMIT = 1_024;
const BULK_VALUE_LIMIT = 65_536;

/** The code of an error for a refused body. Its message is sent to the caller. */
export const REFUSED_BODY = 'REFUSED_BODY';

const refused = (statusCode: number, message: string) =>
  Object.assign(new Error(message), { code: REFUSED_BODY, statusCode });

/**
 * Makes the server read only bodies of the type application/json in UTF-8. Fastify's own parser would replace
 * invalid bytes by U+FFFD, so the stored registration would differ from the one that was sent. A route
 * without a body schema ignores the body. If a route accepts an object without fields, an empty body is read
 * as such an object.
 */
export function readBodies(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const schema = route.schema?.body;
    if (route.method === 'GET' || (schema && !mayBeEmpty(schema))) return;
    // Many clients send some type, or none, with every request.
    route.preParsing = (request, _reply, _payload, next) => {
      if (!schema || announcedBytes(request) === 0) request.headers['content-type'] = 'application/json';
      next();
    };
  });
  // Unknown fields are ignored, including "__proto__".
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const { schema, config } = request.routeOptions;
    if (!schema?.body) return done(null);
    if (body.length === 0 && mayBeEmpty(schema.body)) return done(null, {});
    const read = () => {
      const fault = bodyFault(request, body, config.countsBySize ? BULK_VALUE_LIMIT : VALUE_LIMIT);
      if (fault) done(fault);
      else void parse(request, body.toString(), done);
    };
    if (!config.countsBySize) return read();
    // The size of a chunked body is only known now.
    request.countAs(requestsOf(request, body.length)).then((isPassed) => isPassed && read(), done);
  });
}

const mayBeEmpty = (schema: unknown) => Value.Check(schema as TSchema, {});

/** Returns the error of a body that must not be parsed, or null. */
function bodyFault(request: FastifyRequest, body: Buffer, limit: number) {
  const type = request.headers['content-type']!;
  const coding = request.headers['content-encoding'];
  if (!JSON_TYPE.test(type)) return new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type);
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    return refused(415, 'The body must not be compressed (Content-Encoding)');
  if (isWide(body) || WIDE_CHARSET.test(type)) return refused(415, 'The body must be UTF-8');
  if (!isUtf8(body)) return new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY();
  return hasMoreValues(body, limit) ? refused(413, `The body has more than ${limit} values`) : null;
}

/**
 * Returns whether a body is UTF-16 or UTF-32: it begins with a byte order mark, or has NUL next to the first
 * character of its JSON.
 */
function isWide(body: Buffer) {
  const start = body.toString('latin1', 0, 2);
  return start.includes('\0') || start === '\xff\xfe' || start === '\xfe\xff';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** 1 for each byte that stands before a value: comma, opening bracket, opening brace. */
const OPENS_VALUE = new Uint8Array(256);
for (const sign of ',[{') OPENS_VALUE[sign.charCodeAt(0)] = 1;

/**
 * Returns whether a JSON text has more values than `limit`, without counting keys. Does not parse the text,
 * and takes 1 ms for a mebibyte. Each value except the first follows a comma or an opening bracket outside of
 * strings. For malformed JSON the result has no meaning.
 */
export function hasMoreValues(json: Buffer, limit: number) {
  // The shortest value and its comma are two bytes.
  if (json.length <= 2 * limit) return false;
  let count = 1;
  let isString = false;
  for (let at = 0; at < json.length && count <= limit; at += 1) {
    const byte = json[at]!;
    if (byte === QUOTE) isString = !isString;
    else if (!isString) count += OPENS_VALUE[byte]!;
    else if (byte === BACKSLASH) at += 1;
  }
  return count > limit;
}
