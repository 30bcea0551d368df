import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const SWEEP_MS = 20;

/**
 * What Node keeps on a socket: the response that is due, until it has finished and the next one takes its place, and the
 * parser with the request that it reads or has read last. Undocumented, but unchanged for years, and tested.
 */
export interface HttpSocket extends Socket {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

declare module 'fastify' {
  interface FastifyInstance {
    connections: ReadonlySet<HttpSocket>;
  }
}

/** Returns the open connections of a server, with those that Node loses sight of: the ones that asked for CONNECT. */
export function trackConnections(server: Server): ReadonlySet<HttpSocket> {
  const open = new Set<HttpSocket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/** False also where the answer was given and the client does not take it. */
const isAnswerDue = ({ _httpMessage: due }: HttpSocket): boolean =>
  due?.req.complete === true && !due.writableEnded;

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
    if (performance.now() < patientUntil) return;
    for (const socket of app.connections) if (!isAnswerDue(socket)) socket.destroy();
  }, SWEEP_MS);
  await app.close();
  clearInterval(sweep);
}
