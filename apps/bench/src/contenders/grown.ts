import { createManyEvents } from '../stored/many-events.ts';
import { storeHistory } from '../stored/store-history.ts';
import type { Contender } from './contender.ts';
import { floodgate } from './floodgate.ts';

/** Floodgate with finalized registrations of an earlier event. */
export const withRegistrations = (count: number): Contender => ({
  ...floodgate,
  name: 'registrations stored',
  database: {
    name: 'grown',
    fill: async (db) => storeHistory(db, await createManyEvents(db, { events: 1, partners: 1 }), count),
  },
});

/** Floodgate with 1,000 events, which ten partners sell. */
export const withEvents: Contender = {
  ...floodgate,
  name: '1,000 events stored',
  database: {
    name: 'many_events',
    fill: async (db) => void (await createManyEvents(db, { events: 1_000, partners: 10 })),
  },
};
