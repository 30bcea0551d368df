import type { onRequestHookHandler } from 'fastify';
import { announcedBytes } from '@floodgate/http';

/** The buffers of a connection hold as many bytes anyway, so a smaller body needs no reservation. */
const FREE_BYTES = 4 * 1024;
const MEBIBYTE = 1024 * 1024;
/** Limits of the bodies that a process holds at once, in total and per partner. */
const PROCESS_BYTES = 64 * MEBIBYTE;
const PARTNER_BYTES = 16 * MEBIBYTE;

/**
 * Returns the hook that reserves memory for a body before it is read, until it is read, or for a bulk call
 * until the answer. A chunked body counts as the largest body of the route. Without free memory the request
 * is answered 90.
 */
export function admitBody(): onRequestHookHandler {
  const enter = createBodyRoom();
  return (request, reply, done) => {
    // The API never reads the body of a GET, or a body that is too large.
    if (request.method === 'GET') return done();
    const { routeOptions, principal } = request;
    const bytes = announcedBytes(request) ?? routeOptions.bodyLimit;
    if (bytes <= FREE_BYTES || bytes > routeOptions.bodyLimit) return done();
    const leave = enter(principal.partnerId, bytes);
    // On a connection that stays open, the API would have to read the body to its end.
    if (!leave) return void reply.header('connection', 'close').fail('90');
    reply.raw.once('close', leave);
    // The parsed body of a bulk call takes as much memory as the body. Other bodies are small, and many of
    // them wait for their answers.
    if (!routeOptions.config.countsBySize) request.raw.once('end', leave);
    done();
  };
}

/**
 * Bounds the memory for bodies of unanswered requests, per partner and in total. Returns a function that
 * reserves memory for a body. It returns null without free memory, or else a function that releases the
 * memory, once. A partner without a body can reserve memory for one even if the process limit is reached, so
 * that a few slow partners cannot block the others.
 */
export function createBodyRoom() {
  // Bounded by the number of partners.
  const bytesOf = new Map<number, { held: number }>();
  let total = 0;
  return (partnerId: number, bytes: number): (() => void) | null => {
    const partner = bytesOf.getOrInsertComputed(partnerId, () => ({ held: 0 }));
    const limit = partner.held === 0 ? 2 * PROCESS_BYTES : PROCESS_BYTES;
    if (partner.held + bytes > PARTNER_BYTES || total + bytes > limit) return null;
    let reserved = bytes;
    const add = (more: number) => {
      partner.held += more;
      total += more;
    };
    add(reserved);
    return () => {
      add(-reserved);
      reserved = 0;
    };
  };
}
