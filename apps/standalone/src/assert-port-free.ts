import { assertPortFree as assertFree } from '@floodgate/embedded-postgres';
import { StandaloneError } from './standalone-error.ts';

const REASONS: Record<string, (port: number, host: string) => string> = {
  EADDRINUSE: (port) => `port ${port} is already in use; choose another, as in PORT=${port + 1} npm start`,
  EACCES: (port) =>
    `port ${port} may not be opened by this user; choose one above 1023, as in PORT=3000 npm start`,
  EADDRNOTAVAIL: (_, host) => `HOST ${host} is no address of this machine`,
  ENOTFOUND: (_, host) => `HOST ${host} is no address of this machine`,
};

/** Throws StandaloneError, saying why, where nobody could listen on this port now. */
export async function assertPortFree(port: number, host: string): Promise<void> {
  await assertFree(port, host).catch((cause: NodeJS.ErrnoException) => {
    const reason = REASONS[cause.code ?? '']?.(port, host);
    throw new StandaloneError(reason ?? `cannot listen on ${host}:${port}: ${cause.message}`, { cause });
  });
}
