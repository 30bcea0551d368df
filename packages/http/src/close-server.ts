import type { FastifyInstance } from 'fastify';

const SWEEP_MS = 20;

/**
 * Stops accepting, answers what is in flight and closes every connection. What a client has not sent, or not taken,
 * within `patienceMs` is given up; a request that was read completely is answered however long that takes.
 */
export async function closeServer(app: FastifyInstance, patienceMs = 1_000): Promise<void> {
  const patientUntil = performance.now() + patienceMs;
  const sweep = setInterval(() => {
    // Connections that were busy when the stop began fall idle after their answer, and would be kept alive.
    app.server.closeIdleConnections();
    // Node itself no longer looks for slow clients.
    if (performance.now() > patientUntil) app.connections.closeUnlessAnswerIsDue();
  }, SWEEP_MS);
  await app.close();
  clearInterval(sweep);
}
