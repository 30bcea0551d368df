import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { announcedBytes } from '@floodgate/http';
import { counterIdOf, type LimitedCaller } from './rate-limit.ts';

/** The buffers of a connection hold as many bytes anyway, so a smaller body needs no reservation. */
const FREE_BYTES = 4 * 1024;
const MEBIBYTE = 1024 * 1024;
/** Limits of the bodies that a process holds at the same time, in total and per caller. */
const PROCESS_BYTES = 64 * MEBIBYTE;
const CALLER_BYTES = 16 * MEBIBYTE;

/**
 * Returns the hook that reserves memory for a body before it is read, until it is read, or for a bulk call
 * until the answer. A chunked body counts as the largest body of the route. Without free memory the request
 * is answered 90.
 */
export function admitBody(callerOf: (request: FastifyRequest) => LimitedCaller): onRequestHookHandler {
  const reserve = createBodyMemory();
  return (request, reply, done) => {
    // The API never reads the body of a GET, or a body that is too large.
    if (request.method === 'GET') return done();
    const { routeOptions } = request;
    const bytes = announcedBytes(request) ?? routeOptions.bodyLimit;
    if (bytes <= FREE_BYTES || bytes > routeOptions.bodyLimit) return done();
    const release = reserve(counterIdOf(callerOf(request)), bytes);
    // On a connection that stays open, the API would have to read the body to its end.
    if (!release) return void reply.header('connection', 'close').fail('90');
    reply.raw.once('close', release);
    // The parsed body of a bulk call takes as much memory as the body. Other bodies are small, and many of
    // them wait for their answers.
    if (!routeOptions.config.countsBySize) request.raw.once('end', release);
    done();
  };
}

/**
 * Reserves memory for a body of a caller. Returns null without free memory, or else the function that
 * releases it.
 */
export type ReserveMemory = (callerId: number, bytes: number) => (() => void) | null;

/**
 * Bounds the memory for bodies of unanswered requests, per caller and in total. Memory that was reserved is
 * released once. A caller without a body can reserve memory for one even if the process limit is reached, so
 * that a few slow callers cannot block the others.
 */
export function createBodyMemory(): ReserveMemory {
  // Bounded by the number of callers.
  const usage = new Map<number, { bytes: number }>();
  let total = 0;
  return (callerId, bytes) => {
    const used = usage.getOrInsertComputed(callerId, () => ({ bytes: 0 }));
    const limit = used.bytes === 0 ? 2 * PROCESS_BYTES : PROCESS_BYTES;
    if (used.bytes + bytes > CALLER_BYTES || total + bytes > limit) return null;
    used.bytes += bytes;
    total += bytes;
    let isReserved = true;
    return () => {
      if (!isReserved) return;
      isReserved = false;
      used.bytes -= bytes;
      total -= bytes;
    };
  };
}
