import { sql } from 'kysely';
import type { Deployment } from './deployment.ts';
import type { EventOnSale } from './events-on-sale.ts';
import type { Facts, Span } from './reached.ts';

// What is stored tells in which states things were while a fault lasted.

/** E-mails of the round in a moment. */
export interface MailsAt {
  /** Each lease of an e-mail. */
  leased: ReadonlySet<string>;
  waitingForRetry: number;
}

type Db = Pick<Deployment, 'db'>;

const ofEvents = (events: readonly EventOnSale[]) => {
  const fixtures = events.map(({ fixture }) => fixture);
  return sql`shard_id = any(${[...new Set(fixtures.map(({ shardId }) => shardId))]}::integer[])
    and event_id = any(${[...new Set(fixtures.map(({ eventId }) => eventId))]}::integer[])`;
};

/** Returns the leases and retries of now; null if a server does not answer. */
export async function readMails({ db }: Db, events: readonly EventOnSale[]): Promise<MailsAt | null> {
  const read = sql<{ state: string; lease: string }>`
    select state, concat_ws(' ', lease, subject, due_at) as lease from deliveries
    where ${ofEvents(events)} and state in ('sending', 'retry')`.execute(db);
  const rows = await read.then(
    (answer) => answer.rows,
    () => null,
  );
  return (
    rows && {
      leased: new Set(rows.filter(({ state }) => state === 'sending').map(({ lease }) => lease)),
      waitingForRetry: rows.filter(({ state }) => state === 'retry').length,
    }
  );
}

/** Whether an offer and a hold are open and an e-mail waits for a retry: what a fault is to meet. */
export async function hasOpenStates({ db }: Db, events: readonly EventOnSale[]): Promise<boolean> {
  const { rows } = await sql<Record<'offers' | 'holds' | 'retries', boolean>>`
    select
      exists (select from waiting_entries where ${ofEvents(events)} and state = 'offered') as offers,
      exists (
        select from registrations where ${ofEvents(events)} and held_until > now() and held_until < 'infinity'
          and cancelled_at is null
      ) as holds,
      exists (select from deliveries where ${ofEvents(events)} and state = 'retry') as retries`.execute(db);
  const { offers, holds, retries } = rows[0]!;
  return offers && holds && retries;
}

type StoredFacts = Pick<Facts, 'expiredAt' | 'batches' | 'offers' | 'leasesLost'>;

/** Reads what is stored of the round, with times since it began. */
export async function readFacts(
  { db }: Db,
  events: readonly EventOnSale[],
  startedAtEpochMs: number,
): Promise<StoredFacts> {
  const since = (at: Date | null) => (at === null ? Infinity : at.getTime() - startedAtEpochMs);
  const spans = (rows: { from: Date; to: Date | null }[]): Span[] =>
    rows.map(({ from, to }) => ({ from: since(from), to: since(to) }));
  const holds = await sql<{ at: Date }>`
    select held_until as at from registrations
    where ${ofEvents(events)} and held_until > '-infinity' and held_until < 'infinity'
      and cancelled_at >= held_until`.execute(db);
  // Batches of several events have no event.
  const batches = await sql<{ from: Date; to: Date | null }>`
    select created_at as "from", finished_at as "to" from batches
    where size > 0 and created_at >= ${new Date(startedAtEpochMs)}`.execute(db);
  const offers = await sql<{ from: Date; to: Date | null }>`
    select offered_at as "from", ended_at as "to" from waiting_entries
    where ${ofEvents(events)} and offered_at is not null`.execute(db);
  const lost = await sql<{ count: number }>`
    select count(*)::integer as count from deliveries where ${ofEvents(events)} and possibly_twice`.execute(
    db,
  );
  return {
    expiredAt: holds.rows.map(({ at }) => since(at)),
    batches: spans(batches.rows),
    offers: spans(offers.rows),
    leasesLost: lost.rows[0]!.count,
  };
}
