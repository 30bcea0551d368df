import { createServer } from 'node:net';
import { StandaloneError } from './standalone-error.ts';

const REASONS: Record<string, (port: number, host: string) => string> = {
  EADDRINUSE: (port) => `port ${port} is already in use; choose another, as in PORT=${port + 1} npm start`,
  EACCES: (port) =>
    `port ${port} may not be opened by this user; choose one above 1023, as in PORT=3000 npm start`,
  EADDRNOTAVAIL: (_, host) => `HOST ${host} is no address of this machine`,
  ENOTFOUND: (_, host) => `HOST ${host} is no address of this machine`,
};

/** A loopback port that nobody listens on at the moment. */
export function findFreePort(): Promise<number> {
  return tryPort(0, '127.0.0.1');
}

/** Throws StandaloneError, saying why, where nobody could listen on this port now. */
export async function assertPortFree(port: number, host: string): Promise<void> {
  await tryPort(port, host);
}

async function tryPort(port: number, host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const reason =
      REASONS[error.code ?? '']?.(port, host) ?? `cannot listen on ${host}:${port}: ${error.message}`;
    reject(new StandaloneError(reason, { cause: error }));
  });
  server.listen(port, host, () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
  });
  return promise;
}
