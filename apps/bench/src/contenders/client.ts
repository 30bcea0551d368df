import { generateLoad } from '@floodgate/rehearsal/load/generate';
import type { Contender } from './contender.ts';
import { startFloodgate } from './floodgate.ts';

const CLIENT = new URL('../load/client-main.ts', import.meta.url);
/** Concurrent registrations of the process. */
const AT_ONCE = 4_000;

/** Floodgate with one process that registers attendees one by one through @floodgate/client. */
export const client: Contender = {
  name: 'client',
  description: `Floodgate, asked by one process with register() of @floodgate/client, ${AT_ONCE} at once`,
  start: async (surroundings) => ({
    ...(await startFloodgate(surroundings)),
    generate: (load) => generateLoad({ ...load, connections: AT_ONCE }, undefined, CLIENT),
  }),
};
