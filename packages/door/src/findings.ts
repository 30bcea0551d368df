import { found } from '@floodgate/operators/findings';
import type { DoorFigures } from './watch-doors.ts';

/** A device reports scans a moment before it sends them. The alert waits for as long. */
const WAITING_MS = 5 * 60_000;

/** Returns what is wrong at the doors. `waitingMs`: for how long scans may wait. */
export const findingsOfDoors = (figures: DoorFigures, waitingMs = WAITING_MS) =>
  [
    figures.silentDevices > 0 && found('devicesSilent', { devices: figures.silentDevices }),
    (figures.waitingMs ?? 0) >= waitingMs && found('scansWaiting', { waitingMs: figures.waitingMs! }),
    figures.newConflicts > 0 && found('doorConflicts', { conflicts: figures.newConflicts }),
  ].filter((finding) => finding !== false);
