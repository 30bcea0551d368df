import type { Peer } from './peer.ts';
import { openRedisDesk, startRedisWorker } from './redis-queue.ts';
import { reserveInTransaction } from './reserve-seat.ts';

// Tried alternately on the same machine: 2, 4, 8 and 16 connections for the API on one hot ticket (8 is best: with few, requests wait for
// the five round trips of others; more only wait for the ticket's lock), and 8 and 16 on fifty tickets (same rate).
export const peer: Peer = {
  connections: { api: 8, worker: 8 },
  openDesk: (dependencies) =>
    openRedisDesk(dependencies, (seat) => reserveInTransaction(dependencies.db, seat)),
  startWorker: startRedisWorker,
};
