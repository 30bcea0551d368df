import { shardIds, type Database } from '@floodgate/database';
import { sleep, systemClock, type Clock } from '@floodgate/service';
import { findingsOfDoors } from './findings.ts';
import { watchDoors } from './watch-doors.ts';

/** A device reports scans a moment before it sends them. After this time, they wait for something else. */
const SECOND_LOOK_MS = 2_000;

/**
 * Returns what is wrong at the doors of all events: the figures of the alerts, without the five minutes for
 * which scans must wait before the alert. Empty: nothing is wrong.
 */
export async function checkDoors(db: Database, clock: Clock = systemClock) {
  const read = watchDoors(db, () => shardIds(db), clock);
  let figures = await read();
  if (figures.waitingMs !== null) {
    await sleep(clock, SECOND_LOOK_MS);
    figures = await read();
  }
  return findingsOfDoors(figures, SECOND_LOOK_MS);
}
