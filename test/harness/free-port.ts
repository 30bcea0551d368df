import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { claimFreePort } from '@floodgate/embedded-postgres';

// Below the ports that systems hand out by themselves, to every outgoing connection, too: what is found free here stays so.
const FIRST_PORT = 11_000;
const PORTS = 21_000;
const ATTEMPTS = 1_000;
// Processes that were started one after the other begin far enough from each other, and nobody is given a port twice in a row.
let next = (process.pid * 100) % PORTS;

// A port that was found is free until somebody listens, and again between a stop and a start. The UDP port of the same number is
// held meanwhile, until this process ends: so no other process that asks here is given it.
const held: Socket[] = [];

/**
 * Returns a loopback port that nobody listens on, that the system will not give to anybody by itself, and that this function
 * returns to no other process while this one lives.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = FIRST_PORT + next;
    next = (next + 1) % PORTS;
    try {
      await holdPort(port);
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Keeps a port from everybody else who asks here. Throws where somebody listens on it or holds it. */
export async function holdPort(port: number): Promise<void> {
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
    await claimFreePort(port, '127.0.0.1');
    held.push(socket);
  } catch (error) {
    socket.close();
    throw error;
  }
}
