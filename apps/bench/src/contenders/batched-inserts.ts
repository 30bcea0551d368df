import { generateLoad } from '@floodgate/rehearsal/load/generate';
import type { Contender } from './contender.ts';
import { floodgateBooks } from './floodgate.ts';

const PROGRAM = new URL('batched-inserts-main.ts', import.meta.url);

/**
 * Postgres's ceiling: Floodgate's rows are inserted and counted in batches of a fixed size, one statement and
 * one commit each, without HTTP and without a queue. The rows belong to no batch.
 */
export const batchedInserts: Contender = {
  name: 'inserts without HTTP',
  start: ({ databaseUrl, db }) =>
    Promise.resolve({
      baseUrl: databaseUrl,
      pids: {},
      generate: (load) => generateLoad(load, undefined, PROGRAM),
      books: floodgateBooks(db),
      stop: () => Promise.resolve(),
    }),
};
