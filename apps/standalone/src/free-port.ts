import { createServer } from 'node:net';
import { StandaloneError } from './standalone-error.ts';

const REASONS: Record<string, (port: number, host: string) => string> = {
  EADDRINUSE: (port) => `port ${port} is already in use; choose another, as in PORT=${port + 1} npm start`,
  EACCES: (port) =>
    `port ${port} may not be opened by this user; choose one above 1023, as in PORT=3000 npm start`,
  EADDRNOTAVAIL: (_, host) => `HOST ${host} is no address of this machine`,
  ENOTFOUND: (_, host) => `HOST ${host} is no address of this machine`,
};

// Below the ports that systems hand out by themselves, to every outgoing connection, too: what is found free here stays so.
const FIRST_PORT = 11_000;
const PORTS = 21_000;
const ATTEMPTS = 1_000;
// Processes that were started one after the other begin far enough from each other, and nobody is given a port twice in a row.
let next = (process.pid * 100) % PORTS;

/** A loopback port that nobody listens on, and that the system will not give to anybody by itself. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = FIRST_PORT + next;
    next = (next + 1) % PORTS;
    try {
      await assertPortFree(port, '127.0.0.1');
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Throws StandaloneError, saying why, where nobody could listen on this port now. */
export async function assertPortFree(port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const reason =
      REASONS[error.code ?? '']?.(port, host) ?? `cannot listen on ${host}:${port}: ${error.message}`;
    reject(new StandaloneError(reason, { cause: error }));
  });
  server.listen(port, host, () => server.close(() => resolve()));
  return promise;
}
