import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { BodyRoom } from './body-room.ts';

/** The buffers of a connection hold as much anyway: a smaller body needs no room. */
const FREE_BYTES = 4 * 1024;
/** What a request to a route with `countsBySize` counts as one for. */
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
    // What is parsed of a bulk call is as large as its body. Other bodies are small, and many of them wait for their answers.
    if (!routeOptions.config.countsBySize) request.raw.once('end', leave);
    done();
  };
}
