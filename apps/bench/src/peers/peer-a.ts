import type { Peer } from './peer.ts';
import { openRedisDesk, startRedisWorker } from './redis-queue.ts';
import { reserveInTransaction } from './reserve-seat.ts';

// Tried, in turn on the same machine: 2, 4, 8 and 16 connections for the API on one hot ticket (8 is best: with few, each
// request's five round trips are waited for; many only queue for the ticket's lock), 8 and 16 on fifty tickets (alike).
export const peer: Peer = {
  connections: { api: 8, worker: 8 },
  openDesk: (dependencies) =>
    openRedisDesk(dependencies, (seat) => reserveInTransaction(dependencies.db, seat)),
  startWorker: startRedisWorker,
};
