import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Invites the body of a request that asks first (Expect: 100-continue) when its route begins to read it. A request that is
 * refused by its head is answered at once, and Node closes its connection: without an invitation nobody can tell whether
 * the next bytes are the body or another request.
 */
export function inviteBodyWhenRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once('resume', () => {
      // Behind an answer it is Node that reads on, to drop the rest.
      if (!response.headersSent) response.writeContinue();
    });
    server.emit('request', request, response);
  });
}
