import { generateLoad } from '../load/generate.ts';
import type { Contender } from './contender.ts';
import { startFloodgate } from './floodgate.ts';

/** Requests under way on one connection. */
const DEPTH = 16;
/** As many of them in all as single calls have connections. */
const CONNECTIONS = 128;

/** Floodgate, asked for the same single registrations by clients that do not wait for one answer before the next request. */
export const pipelined: Contender = {
  name: 'pipelined',
  description: `Floodgate with single calls, ${DEPTH} under way on each of ${CONNECTIONS} connections`,
  start: async (surroundings) => ({
    ...(await startFloodgate(surroundings)),
    generate: (load) => generateLoad({ ...load, connections: CONNECTIONS, depth: DEPTH }),
  }),
};
