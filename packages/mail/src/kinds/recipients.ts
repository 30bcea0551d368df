import { plainArray, type Database } from '@floodgate/database';
import type { Delivery, LoadedItems } from '@floodgate/deliveries';
import {
  CANCELLATION,
  EVENT_UPDATED,
  findEvent,
  findRevisions,
  WAITING_OFFER,
  type Event,
  type EventPlace,
  type EVENT_KINDS,
} from '@floodgate/events';
import { sql, type RawBuilder } from 'kysely';
import { findUnconfirmed, findWithOthers } from './cancelled-attendees.ts';
import { findRefusals, type RefusalOptions } from './refusals.ts';

export type Kind = (typeof EVENT_KINDS)[number];

/** A recipient, with the facts that all e-mails contain. */
interface Recipient {
  event: Event;
  serial: number;
  batchId?: string;
  ticketTitle: string;
  fullName: string;
  emailAddress: string;
}
export interface Attendee extends Recipient {
  passCode: number;
  ticketId: number;
  seat: string | null;
  /** The content of the attendee's e-mail from before the event changed. Undefined: not known. */
  told?: EventPlace | undefined;
  /** Whether the address has another registration for the event, of an e-mail about a cancellation. */
  hasOthers?: boolean;
}
/** The contact of an entry of a waiting list that has an offer. */
export interface Offered extends Recipient {
  seats: number;
  expiresAt: Date;
}

const registrations = (ending: RawBuilder<unknown>) => sql`
  serial, batch_id as "batchId", pass_code as "passCode", ticket_id as "ticketId", full_name as "fullName",
  email_address as "emailAddress", table_or_seat as seat, ${ending} as ending
  from registrations`;
const REGISTRATIONS = registrations(sql`case when cancelled_at is not null then 'cancelled' end`);
/** Those that were cancelled: every other ending is in the outcome of the confirmation. */
const CANCELLED = registrations(sql`null::text`);
const OFFERS = sql`
  serial, ticket_id as "ticketId", full_name as "fullName", email_address as "emailAddress", seats,
  expires_at as "expiresAt", case when state <> 'offered' or expires_at <= now() then 'offer ended' end as ending
  from waiting_entries`;

const SOURCES: Partial<Record<Kind, RawBuilder<unknown>>> = {
  [CANCELLATION]: CANCELLED,
  [WAITING_OFFER]: OFFERS,
};

type Loaded = LoadedItems<Attendee | Offered>;

/**
 * Loads the recipients of deliveries of a kind, whose subjects are rows of one event. Rows that do not exist
 * are missing.
 */
export async function loadRecipients(
  kind: Kind,
  options: RefusalOptions,
  deliveries: readonly Delivery[],
): Promise<Loaded> {
  const { db } = options;
  const event = await findEvent(db, deliveries[0]!.eventId);
  const loaded = await loadRows(SOURCES[kind] ?? REGISTRATIONS, options, event, deliveries);
  if (kind === EVENT_UPDATED) await addTold(db, event, deliveries, loaded);
  if (kind === CANCELLATION) await addOthers(db, event, deliveries, loaded);
  return loaded;
}

async function loadRows(
  source: RawBuilder<unknown>,
  options: RefusalOptions,
  event: Event,
  deliveries: readonly Delivery[],
): Promise<Loaded> {
  // With `offset 0`, Postgres looks up each row by its key.
  const { rows } = await sql<(Omit<Attendee, 'event'> | Omit<Offered, 'event'>) & { ending: string | null }>`
    select r.*, t.title as "ticketTitle"
    from unnest(${plainArray(deliveries.map(({ subject }) => subject))}::bigint[]) as query (serial)
    cross join lateral (
      select ${source}
      where shard_id = ${event.shardId} and serial = query.serial and event_id = ${event.id}
      offset 0
    ) r
    cross join lateral (
      select title from tickets where shard_id = ${event.shardId} and id = r."ticketId" offset 0
    ) t`.execute(options.db);
  const addresses = rows.map(({ emailAddress }) => emailAddress);
  const refusals = await findRefusals(options, event.mode, addresses);
  const loaded: Loaded = new Map();
  for (const [index, { ending, ...row }] of rows.entries()) {
    const state = ending ? 'cancelled' : 'suppressed';
    const reason = ending ?? refusals[index];
    loaded.set(String(row.serial), reason ? { outcome: { state, reason } } : { item: { ...row, event } });
  }
  return loaded;
}

/** Adds the content of the e-mails that the recipients of an e-mail about a change got before. */
async function addTold(db: Database, event: Event, deliveries: readonly Delivery[], loaded: Loaded) {
  const known = deliveries.flatMap(({ toldRevision }) => toldRevision ?? []);
  const revisions = await findRevisions(db, event, [...new Set(known)]);
  for (const { subject, toldRevision } of deliveries) {
    const one = loaded.get(subject);
    if (!one || !('item' in one) || toldRevision === null) continue;
    loaded.set(subject, { item: { ...one.item, told: revisions.get(toldRevision) } });
  }
}

/** Leaves out those who must get no e-mail about their cancellation now. Adds whether the others come anyway. */
async function addOthers(db: Database, event: Event, deliveries: readonly Delivery[], loaded: Loaded) {
  const outcomes = await findUnconfirmed(db, deliveries);
  for (const [subject, outcome] of outcomes) loaded.set(subject, { outcome });
  const items = [...loaded.values()].flatMap((one) => ('item' in one ? one.item : []));
  const withOthers = await findWithOthers(db, event, items);
  for (const item of items)
    loaded.set(String(item.serial), { item: { ...item, hasOthers: withOthers.has(item.serial) } });
}
