import type { Peer } from './peer.ts';
import { openRedisDesk, startRedisWorker } from './redis-queue.ts';
import { reserveInOneStatement } from './reserve-seat.ts';

// Tried alternately on the same machine: 2, 4, 8 and 16 connections for the API on one hot ticket (2 is slower, the others have the same
// rate), and 8, 16 and 32 on fifty tickets (more are slightly faster). For the worker, 3 were slower than 8.
export const peer: Peer = {
  connections: { api: 16, worker: 8 },
  openDesk: (dependencies) =>
    openRedisDesk(dependencies, (seat) => reserveInOneStatement(dependencies.db, seat)),
  startWorker: startRedisWorker,
};
