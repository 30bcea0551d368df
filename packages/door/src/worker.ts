import { rememberShards } from '@floodgate/database';
import { defineWorker } from '@floodgate/queue';
import { systemClock } from '@floodgate/service';
import { watchDoors, type DoorFigures } from './watch-doors.ts';

const INTERVAL_MS = 15_000;

/** The worker's task for doors: it reads the figures of their alerts, so that a scrape costs nothing. */
export const doorWorker = defineWorker({
  open({ db, metrics, clock = systemClock }) {
    const read = watchDoors(db, rememberShards(db), clock);
    /** Null: they could not be read. */
    let figures: DoorFigures | null = null;
    const known = () => (figures ? Promise.resolve(figures) : Promise.reject(new Error('not read')));
    metrics.figures(known, {
      door_silent_devices: {
        help: 'Devices without contact for 5 minutes while their gate is open',
        labels: [],
        samples: ({ silentDevices }) => [[{}, silentDevices]],
      },
      door_waiting_seconds: {
        help: 'How long a device has reported more scans than were received; 0: none',
        labels: [],
        samples: ({ waitingMs }) => [[{}, (waitingMs ?? 0) / 1_000]],
      },
      door_new_conflicts: {
        help: 'Seats that let in two people, known for at most 15 minutes',
        labels: [],
        samples: ({ newConflicts }) => [[{}, newConflicts]],
      },
    });
    const run = async () => {
      try {
        figures = await read();
      } catch (error) {
        figures = null;
        throw error;
      }
      return 'done' as const;
    };
    return { jobs: [], tasks: [{ name: 'doors', intervalMs: INTERVAL_MS, run }] };
  },
});
