import { ping, type Database } from '@floodgate/database';
import type { FastifyInstance } from 'fastify';

/** Where load balancers and operators look. Ready means that Postgres answers; the queue is only reported. */
export function healthRoutes(app: FastifyInstance, db: Database, queue: { isUp(): boolean }): void {
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'ok' }));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    const postgres = await ping(db);
    void reply.code(postgres ? 200 : 503);
    return {
      status: postgres ? 'ok' : 'unavailable',
      postgres: postgres ? 'up' : 'down',
      queue: queue.isUp() ? 'up' : 'down',
    };
  });
}
