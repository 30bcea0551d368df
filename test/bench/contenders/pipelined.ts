import { generateLoad } from '../load/generate.ts';
import type { Contender } from './contender.ts';
import { startFloodgate } from './floodgate.ts';

/** Requests under way on one connection. */
const DEPTH = 16;
/** 512 requests under way: the registrations of 2,048 outgrow the API's new space, and what survives a scavenge costs more. */
const CONNECTIONS = 32;

/** Floodgate, asked for the same single registrations by clients that do not wait for one answer before the next request. */
export const pipelined: Contender = {
  name: 'pipelined',
  description: `Floodgate with single calls, ${DEPTH} under way on each of ${CONNECTIONS} connections`,
  start: async (surroundings) => ({
    ...(await startFloodgate(surroundings)),
    generate: (load) => generateLoad({ ...load, connections: CONNECTIONS, depth: DEPTH }),
  }),
};
