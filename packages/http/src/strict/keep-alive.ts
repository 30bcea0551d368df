import type { Server } from 'node:http';

/**
 * Closes connections whose time is over, but not one on which a request is waiting to be read. By itself Node closes them
 * all: after it was held up, its timers run before it reads, and every request that came meanwhile on a connection that
 * had been idle for long would be cut.
 */
export function closeWhenIdle(server: Server): void {
  server.on('timeout', (socket) => {
    const bytesRead = socket.bytesRead;
    // By then it has read what there was.
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}
