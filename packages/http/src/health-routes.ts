import { ping, type Database } from '@floodgate/database';
import type { FastifyInstance } from 'fastify';

/** Adds what load balancers and operators ask. Ready means that Postgres answers; the queue is only reported. */
export function healthRoutes(app: FastifyInstance, db: Database, queue: { problem(): string | null }): void {
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'ok' }));
  let asking: Promise<boolean> | null = null;
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    // Once for all who wait: anybody may ask, as often as they like.
    asking ??= ping(db).finally(() => (asking = null));
    const postgres = await asking;
    const queueProblem = queue.problem();
    void reply.code(postgres ? 200 : 503);
    return {
      status: postgres ? 'ok' : 'unavailable',
      postgres: postgres ? 'up' : 'down',
      queue: queueProblem === null ? 'up' : 'down',
      ...(queueProblem !== null && { queueProblem }),
    };
  });
}
