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
    connections: Connections;
  }
}

/** The open connections of a server, with those that Node loses sight of: the ones that asked for CONNECT. */
export class Connections {
  readonly #open = new Set<HttpSocket>();

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Closes all but those that wait for the answer to a request which was read completely. */
  closeUnlessAnswerIsDue(): void {
    for (const socket of this.#open) if (!isAnswerDue(socket)) socket.destroy();
  }
}

/** False also where the answer was given and the client does not take it. */
const isAnswerDue = ({ _httpMessage: due }: HttpSocket): boolean =>
  due?.req.complete === true && !due.writableEnded;
