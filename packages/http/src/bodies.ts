import { isUtf8 } from 'node:buffer';
import {
  errorCodes,
  type FastifyError,
  type FastifyInstance,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify';
import type { Routes } from './server.ts';

/** The buffers of a connection hold as much anyway: a smaller body needs no room. */
const FREE_BYTES = 4 * 1024;
/** The size of body that counts as one request, on a route with `countsBySize`. */
const BYTES_PER_REQUEST = 4 * 1024;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a large body counts as several requests against the partner's limit. */
    countsBySize?: boolean;
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

/**
 * Returns the hook that reserves memory for a body before a byte of it is read: until it is read, or for a bulk call until the
 * answer. A chunked body counts as the largest that the route reads. Without room the request is answered 90.
 */
export function admitBody(): onRequestHookHandler {
  const room = new BodyRoom();
  return (request, reply, done) => {
    // Nobody reads the body of a GET, nor one that is too large.
    if (request.method === 'GET') return done();
    const { routeOptions, principal } = request;
    const bytes = announcedBytes(request) ?? routeOptions.bodyLimit;
    if (bytes <= FREE_BYTES || bytes > routeOptions.bodyLimit) return done();
    // A connection that stays open would have to be read to the end of the body.
    if (!room.enter(principal.partnerId, bytes)) return void reply.header('connection', 'close').fail('90');
    let isHeld = true;
    const leave = () => {
      if (isHeld) room.leave(principal.partnerId, bytes);
      isHeld = false;
    };
    reply.raw.once('close', leave);
    // The parsed body of a bulk call is as large as the body. Other bodies are small, and many of them wait for their answers.
    if (!routeOptions.config.countsBySize) request.raw.once('end', leave);
    done();
  };
}

const MEBIBYTE = 1024 * 1024;
/** Bytes of bodies that a process holds at once, and how many of them may be one partner's. */
const PROCESS_BYTES = 64 * MEBIBYTE;
const PARTNER_BYTES = 16 * MEBIBYTE;

/** Bounds the memory that the bodies of unanswered requests take, of one partner and of all together. */
export class BodyRoom {
  readonly #bytesOf = new Map<number, number>();
  #bytes = 0;

  /**
   * Reserves room for a body. Returns false when there is none. A partner that holds no body gets room for one even when the
   * others fill the process, so that a few slow partners cannot lock out the rest.
   */
  enter(partnerId: number, bytes: number): boolean {
    const held = this.#bytesOf.get(partnerId) ?? 0;
    const limit = held === 0 ? 2 * PROCESS_BYTES : PROCESS_BYTES;
    if (held + bytes > PARTNER_BYTES || this.#bytes + bytes > limit) return false;
    this.#bytesOf.set(partnerId, held + bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Gives the room of one body back. */
  leave(partnerId: number, bytes: number): void {
    const held = this.#bytesOf.get(partnerId)! - bytes;
    if (held === 0) this.#bytesOf.delete(partnerId);
    else this.#bytesOf.set(partnerId, held);
    this.#bytes -= bytes;
  }
}

/** Fastify drops whatever JavaScript takes for a blank around it; HTTP has two. */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;
const WIDE_CHARSET = /;[\t ]*charset="?(?:utf-?16|utf-?32|ucs-?2)/i;

/** Values that a body may have, unknown fields included. A bulk call may have 64 for each of 1,000 registrations. */
const MOST_VALUES = 1_024;
const MOST_VALUES_IN_BULK = 65_536;

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
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const read = () => {
      const refusal = refusalOf(request, body);
      if (refusal) done(refusal);
      else void parse(request, body.toString(), done);
    };
    if (announcedBytes(request) !== null || !request.routeOptions.config.countsBySize) return read();
    // Only now is the size of a chunked body known.
    request.countAs(requestsOf(request, body.length)).then((isPassed) => isPassed && read(), done);
  });
}

/** Returns why a body is not parsed, or null. */
function refusalOf(request: FastifyRequest, body: Buffer): FastifyError | RefusedBody | null {
  const type = request.headers['content-type']!;
  const coding = request.headers['content-encoding'];
  if (!JSON_TYPE.test(type)) return new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type);
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    return new RefusedBody(415, 'The body must not be compressed (Content-Encoding)');
  if (isWide(body) || WIDE_CHARSET.test(type)) return new RefusedBody(415, 'The body must be UTF-8');
  if (!isUtf8(body)) return new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY();
  const most = request.routeOptions.config.countsBySize ? MOST_VALUES_IN_BULK : MOST_VALUES;
  return hasMoreValues(body, most) ? new RefusedBody(413, `The body has more than ${most} values`) : null;
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

/** Adds routes that read no body, whatever is sent. */
export function withoutBody(api: Routes, add: (routes: Routes) => void): void {
  void api.register((routes, _options, done) => {
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, parsed) => parsed(null));
    // Clients send any type, with a body or without one.
    routes.addHook('onRequest', ({ headers }, _reply, next) => {
      headers['content-type'] = 'application/octet-stream';
      next();
    });
    add(routes);
    done();
  });
}

// A type without a body is no error here: clients often send the header with every request.
const forgetType: onRequestHookHandler = (request, _reply, next) => {
  if (announcedBytes(request) === 0) {
    delete request.headers['content-type'];
    delete request.headers['content-length'];
  }
  next();
};

/** Options of a route whose fields are all optional: an empty body is read as an object without fields. */
export const optionalBody = {
  onRequest: forgetType,
  preValidation: async (request: FastifyRequest) => void (request.body ??= {}),
};
