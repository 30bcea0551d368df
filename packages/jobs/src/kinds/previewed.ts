import { whole } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import type { Database } from '@floodgate/database';
import { findEvent, type Event } from '@floodgate/events';
import { PERSONAL_FIELDS, storedFilter, type RegistrationFilter } from '@floodgate/registrations/filter';
import { countMatches, findMatches, serialsOfMatches } from '@floodgate/registrations/matches';
import { rangesAfter, rangesUpTo } from '@floodgate/registrations/serial-ranges';
import { Failure } from '@floodgate/service/failure';
import { Type, type Static } from '@sinclair/typebox';
import { JobId } from '../actions.ts';
import type { JobItems } from '../jobs.ts';

/** Servers of a Citus cluster whose serials are exact numbers in JSON. */
const MOST_SERVERS = 32;

/** How a start names what was previewed. */
export const StartFields = {
  /** The number of the preview. */
  expect: whole(0, 2_147_483_647),
  /** The highest serials of the preview. Absent: nothing may have come since. */
  upTo: Type.Optional(Type.Array(whole(0, Number.MAX_SAFE_INTEGER), { minItems: 1, maxItems: MOST_SERVERS })),
  jobId: typedAs('--id', Type.Optional(JobId)),
};
const Start = Type.Object(StartFields);
export type Start = Static<typeof Start>;

/** The registrations on which a job would act. */
export interface Preview {
  eventId: number;
  eventName: string;
  mode: string;
  count: number;
  /** The highest serial, on Citus of each server. A start with it leaves out what comes later. */
  upTo: number[];
  /** The consequences, in sentences. */
  follows: string[];
  /** The first of them. Names and addresses only for those who may see attendees. */
  first: PreviewedRow[];
}

/** A registration of a preview. */
type Previewed = Awaited<ReturnType<typeof findMatches>>['registrations'][number];
type Personal = 'fullName' | 'emailAddress' | 'phoneNumber' | 'partnerReference';
export type PreviewedRow = Omit<Previewed, Personal> & Partial<Pick<Previewed, Personal>>;

const FIRST = 10;

/** Returns how many registrations match that are not cancelled, and the highest serials of them. */
export async function countUpToNow(db: Database, shardId: number, filter: RegistrationFilter) {
  const { count, lastSerials } = await countMatches(db, shardId, filter, { onlyLive: true });
  return { count, upTo: count === 0 ? [0] : lastSerials };
}

/** Returns what a job would act on: registrations that match and are not cancelled. */
export async function previewOf(db: Database, filter: RegistrationFilter, maySeeAttendees: boolean) {
  const event = await findEvent(db, filter.eventId);
  const { count, upTo } = await countUpToNow(db, event.shardId, filter);
  const { registrations } = await findMatches(db, event.shardId, filter, {
    after: 0,
    limit: FIRST,
    onlyLive: true,
  });
  const first = registrations.map(
    ({ fullName, emailAddress, phoneNumber, partnerReference, ...facts }): PreviewedRow =>
      maySeeAttendees ? { ...facts, fullName, emailAddress, phoneNumber, partnerReference } : facts,
  );
  return {
    event,
    preview: { eventId: event.id, eventName: event.name, mode: event.mode, count, upTo, first },
  };
}

/** Says who gets an e-mail if an operator cancels registrations of an event. */
export function mailsAbout({ mode, mailOperatorCancels }: Pick<Event, 'mode' | 'mailOperatorCancels'>) {
  if (mode === 'test') return 'This is a test event: no attendee gets an e-mail.';
  return mailOperatorCancels
    ? 'Attendees who got a confirmation by e-mail get another e-mail about the cancellation.'
    : 'No attendee gets an e-mail: the settings of the event exclude it.';
}

export const changedText = (expected: number, found: number) =>
  `the preview had ${expected} registrations, and now there are ${found}; repeat the preview`;

/**
 * Returns the items that were previewed, and how many came since. Throws Failure with both numbers if there
 * are more or fewer.
 */
export async function itemsOfPreview(
  db: Database,
  shardId: number,
  filter: RegistrationFilter,
  { expect, upTo }: Start,
): Promise<JobItems> {
  const bound = upTo === undefined ? {} : { ranges: rangesUpTo(upTo) };
  const items = await serialsOfMatches(db, shardId, filter, { ...bound, onlyLive: true });
  if (items.length !== expect) throw new Failure(changedText(expect, items.length));
  if (upTo === undefined) return { items, cameSince: 0 };
  const { count } = await countMatches(db, shardId, filter, { ranges: rangesAfter(upTo), onlyLive: true });
  return { items, cameSince: count };
}

/** Returns the filter as a job stores and shows it: without what it says about people. */
export function shownFilter(filter: RegistrationFilter) {
  const shown: Record<string, unknown> = storedFilter(filter);
  for (const field of PERSONAL_FIELDS) if (field in shown) shown[field] = '…';
  return shown;
}
