import type { RunningProcess } from '@floodgate/operators';
import type { Work } from '@floodgate/registrations/console';

/** Returns the number of calls that wait to register at all APIs. Null: no API reports. */
export function waitingOf(running: readonly RunningProcess[]) {
  const apis = running.filter(({ service }) => service === 'api');
  return apis.length === 0 ? null : apis.reduce((sum, { facts }) => sum + (facts.waiting ?? 0), 0);
}

/** Returns the age of the oldest entry that was not tried to deliver. 0: none waits. Null: it is not known. */
export function undeliveredMsOf(work: Work | undefined) {
  if (!work) return null;
  const ages = Object.values(kindsOf(work)).flatMap(({ oldestMs }) => oldestMs ?? []);
  return Math.round(Math.max(0, ...ages));
}

/** Returns the backlogs of the deliveries by kind. */
export function kindsOf(work: Work | undefined) {
  const { shardsAway: _, ...kinds } = work?.deliveries ?? {};
  return kinds;
}
