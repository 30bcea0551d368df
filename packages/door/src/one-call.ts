import type { onRequestAsyncHookHandler } from 'fastify';

/**
 * Calls of a device that wait. An app that is not broken has two: a question, and an upload in the
 * background.
 */
const WAITING_LIMIT = 4;

/**
 * Returns the hook that serves one call of a device at a time, so that no device can occupy more than one
 * connection to Postgres. Further calls wait, or are answered 50 if too many wait. A device that does not
 * wait for its answer any more is skipped.
 */
export function serveOneCall(): onRequestAsyncHookHandler {
  /** By device, those who wait behind the call that is served. */
  const queues = new Map<number, (() => void)[]>();
  return async (request, reply) => {
    const { deviceId } = request.device;
    const queue = queues.get(deviceId);
    if (queue && queue.length >= WAITING_LIMIT)
      return reply.fail('50', { message: 'Too many requests: a device is served one call at a time' });
    if (queue) await new Promise<void>((resolve) => queue.push(resolve));
    else queues.set(deviceId, []);
    const next = () => {
      const start = queues.get(deviceId)?.shift();
      if (start) start();
      else queues.delete(deviceId);
    };
    if (reply.raw.destroyed || reply.raw.closed) {
      next();
      // Fastify answers nothing on a closed connection.
      return reply.hijack();
    }
    reply.raw.once('close', next);
    return undefined;
  };
}
