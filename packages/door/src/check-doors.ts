import { shardIds, type Database } from '@floodgate/database';
import { sleep, systemClock, type Clock } from '@floodgate/service';
import { watchDoors } from './watch-doors.ts';

/** A device reports scans a moment before it sends them. After this time, they wait for something else. */
const SECOND_LOOK_MS = 2_000;

/**
 * Returns what is wrong at the doors of all events, in sentences: the figures of the alerts, without the five
 * minutes for which scans must wait before the alert. Empty: nothing is wrong.
 */
export async function checkDoors(db: Database, clock: Clock = systemClock): Promise<string[]> {
  const read = watchDoors(db, () => shardIds(db), clock);
  let figures = await read();
  if (figures.waitingMs !== null) {
    await sleep(clock, SECOND_LOOK_MS);
    figures = await read();
  }
  const { silentDevices: silent, waitingMs, newConflicts: conflicts } = figures;
  const problems = [
    silent > 0 &&
      `no contact for 5 minutes with ${silent === 1 ? '1 device' : `${silent} devices`} of open gates, ` +
        'see floodgate device list',
    (waitingMs ?? 0) >= SECOND_LOOK_MS &&
      'a device has reported scans that were not received, see floodgate door report',
    conflicts > 0 &&
      `${conflicts === 1 ? '1 conflict' : `${conflicts} conflicts`} at doors within 15 minutes, ` +
        'see floodgate door report',
  ];
  return problems.filter((problem) => typeof problem === 'string');
}
