import { formatPassReference } from '@floodgate/contract';
import { plainArray, textArray, type Database } from '@floodgate/database';
import { EVENT_KINDS, findEvent, WAITING_OFFER, type Event } from '@floodgate/events';
import type { Caller } from '@floodgate/operators';
import { InvalidInput } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { remediesOf, whyOf, type Step, type Undelivered } from './failure-words.ts';
import { findSuppressions } from './suppressions.ts';

/** Somebody who did not get an e-mail. */
export interface MailFailure extends Omit<Undelivered, 'suppression'> {
  /** Since when it has this state. */
  since: Date;
  /** When it is tried again; null if it is not. */
  nextAttemptAt: Date | null;
  attempts: number;
  /** The reason in words. */
  why: string | null;
  remedy: string;
  /** The same, step by step. */
  steps: Step[];
  /** Stands for the address in the list of those that get no e-mails. Null: the address gets them. */
  suppressionDigest: string | null;
  /** Only for callers who may see attendees. */
  fullName?: string;
  emailAddress?: string;
}

export interface MailFailurePage {
  failures: MailFailure[];
  /** Continues the list; null if it has ended. */
  cursor: string | null;
}

interface Row {
  kind: Undelivered['kind'];
  subject: string;
  state: 'undeliverable' | 'suppressed' | 'retry' | 'queued';
  reason: string | null;
  attempts: number;
  dueAt: Date;
  since: Date;
}

const CURSOR = /^([a-z-]+):(\d{1,19})$/;

/**
 * Returns the persons of an event who did not get an e-mail, by kind and registration. Throws NotFound if
 * there is no such event, InvalidInput if the cursor is none of this list.
 */
export async function listFailures(
  db: Database,
  { eventId, after, limit }: { eventId: number; after?: string | undefined; limit: number },
  caller: Pick<Caller, 'may'>,
): Promise<MailFailurePage> {
  const event = await findEvent(db, eventId);
  const [, kind = '', subject = ''] = CURSOR.exec(after ?? '') ?? [];
  if (after !== undefined && kind === '') throw new InvalidInput({ after: 'the cursor of a page before' });
  const rows = await readRows(db, event, { kind, subject }, limit + 1);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1)! : null;
  const persons = await findPersons(db, event, page);
  const suppressions = await findSuppressions(
    db,
    [...persons.values()].map(({ emailAddress }) => emailAddress),
  );
  const isShown = caller.may('attendees:read');
  return {
    failures: page.map((row) => {
      const person = persons.get(keyOf(row));
      return presented(row, event, person, suppressions.get(person?.emailAddress ?? ''), isShown);
    }),
    cursor: last && `${last.kind}:${last.subject}`,
  };
}

const keyOf = ({ kind, subject }: Pick<Row, 'kind' | 'subject'>) =>
  `${kind === WAITING_OFFER ? 'entry' : 'registration'} ${subject}`;

async function readRows(
  db: Database,
  { shardId, id: eventId }: Event,
  after: { kind: string; subject: string },
  limit: number,
): Promise<Row[]> {
  // The condition on the state is that of the index deliveries_failed.
  const { rows } = await sql<Row>`
    select kind, subject, state, reason, attempts, due_at as "dueAt",
      case when state in ('undeliverable', 'suppressed') then coalesce(tried_at, created_at)
        else coalesce(failing_since, created_at) end as since
    from deliveries
    where shard_id = ${shardId} and event_id = ${eventId}
      and (state in ('undeliverable', 'suppressed', 'retry') or state = 'queued' and reason is not null)
      and kind = any(${textArray(EVENT_KINDS)}::text[])
      and (kind, subject) > (${after.kind}, ${after.subject})
    order by kind, subject limit ${limit}`.execute(db);
  return rows;
}

interface Person {
  /** Null: a contact of a waiting list. */
  passCode: number | null;
  fullName: string;
  emailAddress: string;
}

/** Returns the persons to whom deliveries are sent, by keyOf. */
async function findPersons(db: Database, event: Event, page: readonly Row[]): Promise<Map<string, Person>> {
  const isOffer = ({ kind }: Row) => kind === WAITING_OFFER;
  const subjectsOf = (rows: readonly Row[]) => plainArray(rows.map(({ subject }) => subject));
  const { rows } = await sql<Person & { key: string }>`
    select 'registration ' || query.serial as key, r.*
    from unnest(${subjectsOf(page.filter((row) => !isOffer(row)))}::bigint[]) as query (serial)
    cross join lateral (
      select pass_code as "passCode", full_name as "fullName", email_address as "emailAddress"
      from registrations
      where shard_id = ${event.shardId} and serial = query.serial and event_id = ${event.id}
      offset 0
    ) r
    where r."emailAddress" is not null`.execute(db);
  const { rows: contacts } = await sql<Person & { key: string }>`
    select 'entry ' || serial as key, null as "passCode", full_name as "fullName", email_address as "emailAddress"
    from waiting_entries
    where shard_id = ${event.shardId} and serial = any(${subjectsOf(page.filter(isOffer))}::bigint[])
      and event_id = ${event.id}`.execute(db);
  return new Map([...rows, ...contacts].map(({ key, ...person }) => [key, person]));
}

function presented(
  { kind, subject, state, reason, attempts, dueAt, since }: Row,
  event: Event,
  person: Person | undefined,
  suppression: Undelivered['suppression'],
  isShown: boolean,
): MailFailure {
  const isOver = state === 'undeliverable' || state === 'suppressed';
  const passCode = person?.passCode ?? null;
  const reference = { prefix: event.passPrefix, eventId: event.id, serial: Number(subject) };
  const failure = {
    kind,
    state: isOver ? state : ('waiting' as const),
    reason,
    passReference: passCode === null ? null : formatPassReference({ ...reference, passCode }),
  };
  return {
    ...failure,
    ...(isShown && person && { fullName: person.fullName, emailAddress: person.emailAddress }),
    since,
    attempts,
    why: whyOf(reason),
    ...remediesOf({ ...failure, suppression }),
    nextAttemptAt: isOver ? null : dueAt,
  };
}
