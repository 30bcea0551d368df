import { generateLoad } from '../load/generate.ts';
import type { Contender } from './contender.ts';
import { startFloodgate } from './floodgate.ts';

/** Registrations that the process has asked for and waits for, at any time. */
const AT_ONCE = 4_000;

/** Floodgate, asked by one process that registers one by one through @floodgate/client. */
export const client: Contender = {
  name: 'client',
  description: `Floodgate, asked by one process with register() of @floodgate/client, ${AT_ONCE} at once`,
  start: async (surroundings) => ({
    ...(await startFloodgate(surroundings)),
    generate: (load) => generateLoad({ ...load, connections: AT_ONCE }, 'client-main.ts'),
  }),
};
