import { plainArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import {
  findRegistrations,
  passReferenceOf,
  type RegistrationQuery,
  type RegistrationRow,
} from '../status/find-registrations.ts';

/** The states of an entry of a waiting list. */
type WaitingState = 'waiting' | 'offered' | 'confirmed' | 'expired' | 'left';

/** The facts about a person that registrations and waiting lists both have. */
interface Person {
  eventId: number;
  partnerId: number;
  fullName: string;
  emailAddress: string;
  partnerReference: string | null;
}

/** A registration or an entry of a waiting list that a search has found. */
export interface Hit extends Person {
  /** Orders the hits: the newest has the highest. It is the cursor of a search. */
  serial: number;
  /** `hold`: a registration whose seat is held. `waiting`: an entry of a waiting list. */
  kind: 'registration' | 'hold' | 'waiting';
  state: RegistrationRow['state'] | WaitingState;
  ticketId: number;
  /** Null: it is an entry of a waiting list. */
  passReference: string | null;
  /** The reference of an entry of a waiting list. Null: it is a registration. */
  entry: string | null;
  phoneNumber: string | null;
  /** Null: it is an entry of a waiting list. */
  reservedAt: Date | null;
}

/** A registration as it was found, before its state is read. */
interface Found extends RegistrationQuery, Person {
  phoneNumber: string | null;
}

/** An entry of a waiting list as it was found. */
interface FoundEntry extends Person {
  serial: number;
  id: string;
  ticketId: number;
  state: WaitingState;
}

const PERSON = sql`
  serial, event_id as "eventId", partner_id as "partnerId", full_name as "fullName",
  email_address as "emailAddress", partner_reference as "partnerReference"`;

/**
 * Reads registrations and entries of waiting lists of a shard by their serials, in any order. A registration
 * that has no name, or whose seat got another attendee, is left out.
 */
export async function readHits(db: Database, shardId: number, serials: readonly number[]): Promise<Hit[]> {
  if (serials.length === 0) return [];
  const wanted = sql`shard_id = ${shardId} and serial = any(${plainArray(serials)}::bigint[])`;
  const { rows: found } = await sql<Found>`
    select ${shardId}::integer as "shardId", phone_number as "phoneNumber", ${PERSON} from registrations
    where ${wanted} and full_name is not null and replaced_by is null`.execute(db);
  const hits = await hitsOf(db, found);
  if (found.length === serials.length) return hits;
  const { rows: entries } = await sql<FoundEntry>`
    select id, ticket_id as "ticketId", state, ${PERSON} from waiting_entries where ${wanted}`.execute(db);
  return [...hits, ...entries.map(hitOfEntry)];
}

/** Adds the states. */
async function hitsOf(db: Database, found: readonly Found[]): Promise<Hit[]> {
  const rows = await findRegistrations(db, found);
  return found.flatMap((registration, index) => {
    const row = rows[index];
    return row ? [hitOf(registration, row)] : [];
  });
}

const hitOf = ({ shardId: _shardId, ...registration }: Found, row: RegistrationRow): Hit => ({
  ...registration,
  kind: row.state === 'held' ? 'hold' : 'registration',
  state: row.state,
  ticketId: row.ticketId,
  passReference: passReferenceOf(row),
  entry: null,
  reservedAt: row.reservedAt,
});

const hitOfEntry = ({ id, ...entry }: FoundEntry): Hit => ({
  ...entry,
  kind: 'waiting',
  passReference: null,
  entry: id,
  phoneNumber: null,
  reservedAt: null,
});

/** Reads one registration as a hit, also if its seat got another attendee. */
export async function readHit(db: Database, shardId: number, serial: number) {
  const { rows } = await sql<Found>`
    select ${shardId}::integer as "shardId", phone_number as "phoneNumber", ${PERSON} from registrations
    where shard_id = ${shardId} and serial = ${serial} and full_name is not null`.execute(db);
  return hitsOf(db, rows);
}
