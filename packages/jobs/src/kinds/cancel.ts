import type { Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { storedFilter, type RegistrationFilter } from '@floodgate/registrations/filter';
import { countMatches } from '@floodgate/registrations/matches';
import { InvalidInput } from '@floodgate/service/failure';
import { startJob } from '../jobs.ts';
import { itemsOfPreview, mailsAbout, previewOf, shownFilter, type Preview, type Start } from './previewed.ts';

function assertLive({ state }: RegistrationFilter) {
  if (state === 'cancelled') throw new InvalidInput({ state: 'another state; these are cancelled already' });
}

interface CancelPreview extends Preview {
  /** Seats that have let in a person. Null: they are left out. */
  admitted: number | null;
}

/** Returns what a cancellation of all that match would do. */
export async function previewCancel(
  db: Database,
  filter: RegistrationFilter,
  maySeeAttendees: boolean,
): Promise<CancelPreview> {
  assertLive(filter);
  const { event, preview } = await previewOf(db, filter, maySeeAttendees);
  const isAny = filter.admitted !== false;
  const admitted = isAny
    ? await countMatches(db, event.shardId, { ...filter, admitted: true }, { onlyLive: true })
    : null;
  const follows = [
    `${preview.count} registrations are cancelled, also after the deadline. Their seats can be sold again.`,
    'Each partner gets its cancellations by webhook and list.',
    mailsAbout(event),
    admitted &&
      admitted.count > 0 &&
      `${admitted.count} of the seats have let in a person. The door report lists them.`,
    !isAny && 'Seats that let in a person meanwhile are left out.',
  ];
  return {
    ...preview,
    admitted: admitted && admitted.count,
    follows: follows.filter((line) => typeof line === 'string'),
  };
}

/** Starts the cancellation of what was previewed. */
export async function startCancel(db: Database, filter: RegistrationFilter, start: Start, actor: string) {
  assertLive(filter);
  const { shardId } = await findEvent(db, filter.eventId);
  const job = {
    id: start.jobId,
    kind: 'cancel' as const,
    shardId,
    eventId: filter.eventId,
    filter: storedFilter(filter),
    shownFilter: shownFilter(filter),
    // A filter for those that are not admitted does not mean a seat that lets in a person meanwhile.
    settings: { leaveAdmitted: filter.admitted === false },
  };
  return startJob(db, job, actor, () => itemsOfPreview(db, shardId, filter, start));
}
