import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { claimFreePort } from '@floodgate/embedded-postgres';

// Below the ports that systems assign to outgoing connections, so that a free port stays free.
const FIRST_PORT = 11_000;
const PORTS = 21_000;
const ATTEMPTS = 1_000;
// Consecutive processes begin far apart, and no port is returned twice in a row.
let next = (process.pid * 100) % PORTS;

// A returned port is free until a server listens on it, and again between a stop and a start. Until this
// process ends, it holds the UDP port of the same number, so that this function returns the port to no other
// process.
const held: Socket[] = [];

/**
 * Returns a free loopback port. The system does not assign it, and while this process lives, this function
 * returns it to no other process.
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

/** Reserves a port against other processes that use this function. Throws if the port is in use or reserved. */
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
