import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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

/** Whether a request was read completely and its answer not yet given. The client may still have to take what was. */
export const isAnswerDue = ({ _httpMessage: due }: HttpSocket): boolean =>
  due?.req.complete === true && !due.writableEnded;
