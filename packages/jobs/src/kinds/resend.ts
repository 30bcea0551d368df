import type { ConsumerState, Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { storedFilter, type RegistrationFilter } from '@floodgate/registrations/filter';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import { startJob } from '../jobs.ts';
import { itemsOfPreview, previewOf, shownFilter, type Preview, type Start } from './previewed.ts';

/** Only confirmed registrations have a pass. */
function confirmedOf(filter: RegistrationFilter): RegistrationFilter {
  if ((filter.state ?? 'confirmed') !== 'confirmed')
    throw new InvalidInput({ state: 'confirmed; only confirmed registrations have a pass' });
  return { ...filter, state: 'confirmed' };
}

async function mailStateOf(db: Database, shardId: number, eventId: number) {
  const consumer = db
    .selectFrom('journal_consumers')
    .select('state')
    .where(({ and }) => and({ shard_id: shardId, event_id: eventId, kind: 'mail' }));
  return (await consumer.executeTakeFirst())?.state ?? 'off';
}

interface ResendPreview extends Preview {
  /** Whether e-mails of the event are sent. */
  mail: ConsumerState | 'off';
}

/** Returns what sending the passes of all that match again would do. */
export async function previewResend(
  db: Database,
  given: RegistrationFilter,
  maySeeAttendees: boolean,
): Promise<ResendPreview> {
  const filter = confirmedOf(given);
  const { event, preview } = await previewOf(db, filter, maySeeAttendees);
  const mail = await mailStateOf(db, event.shardId, event.id);
  const follows = [
    `${preview.count} e-mails with a pass are queued. One that waits for its first attempt is not sent twice.`,
    'Suppressed addresses get none. To send to one again, remove its suppression first.',
    mail === 'off' && 'E-mails of this event are not enabled, so this cannot start.',
    mail === 'paused' && 'E-mails of this event are paused, so they wait until they are resumed.',
    event.mode === 'test' && 'This is a test event: no e-mail leaves this machine.',
  ];
  return { ...preview, mail, follows: follows.filter((line) => typeof line === 'string') };
}

/** Starts to send the passes that were previewed again. Throws Failure if e-mails of the event are disabled. */
export async function startResend(db: Database, given: RegistrationFilter, start: Start, actor: string) {
  const filter = confirmedOf(given);
  const { shardId } = await findEvent(db, filter.eventId);
  if ((await mailStateOf(db, shardId, filter.eventId)) === 'off')
    throw new Failure('e-mails of this event are not enabled');
  const job = {
    id: start.jobId,
    kind: 'resend' as const,
    shardId,
    eventId: filter.eventId,
    filter: storedFilter(filter),
    shownFilter: shownFilter(filter),
  };
  return startJob(db, job, actor, () => itemsOfPreview(db, shardId, filter, start));
}
