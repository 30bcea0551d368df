import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Returns the port, or a free one for 0. Throws the system's reason (EADDRINUSE, EACCES, …) if nobody can listen on it now. */
export async function claimFreePort(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const { port: claimed } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return claimed;
}
