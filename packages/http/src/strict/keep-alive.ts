import type { Server } from 'node:http';

/**
 * Closes connections that were idle for too long, but none on which a request waits to be read. Node by itself would close
 * those too: when the process was held up, timers run before anything is read.
 */
export function closeIdleConnections(server: Server): void {
  server.on('timeout', (socket) => {
    const bytesRead = socket.bytesRead;
    // By then it has read what there was.
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}
