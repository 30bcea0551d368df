import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';
import type { InvalidField, Principal } from '@floodgate/http';
import type { ChangedSeat } from './change-holds.ts';

/** Attendees of an event, by the digests that the event allows once. */
export interface TakenQuery {
  shardId: number;
  eventId: number;
  digests: readonly string[];
}

/** Finds which digests have a seat already. Concurrent calls share a statement. */
export type FindTaken = (query: TakenQuery) => Promise<ReadonlySet<string>>;

/**
 * Finds the digests that have a seat already, for queries of one shard. Resolves to one set per query, in
 * order.
 */
export async function findTaken(db: Database, queries: readonly TakenQuery[]) {
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const digestsOfQueries = queries.flatMap(({ eventId, digests }, query) =>
    digests.map((digest) => ({ query, eventId, digest })),
  );
  const column = (name: 'eventId' | 'digest') => plainArray(digestsOfQueries.map((entry) => entry[name]));
  const { rows } = await sql<{ position: number }>`
    select input.position::integer as position
    from unnest(${column('eventId')}::integer[], ${column('digest')}::uuid[])
      with ordinality as input (event_id, digest, position)
    cross join lateral (
      select serial from registrations
      where shard_id = ${shardId} and event_id = input.event_id and attendee_digest = input.digest
        and cancelled_at is null
      limit 1 offset 0
    ) r`.execute(db);
  const taken = queries.map(() => new Set<string>());
  for (const { position } of rows) {
    const { query, digest } = digestsOfQueries[position - 1]!;
    taken[query]!.add(digest);
  }
  return taken;
}

/** The attendees of a confirmation that are duplicates, for the answer to the partner. */
export interface Duplicates {
  message: string;
  invalidFields: readonly InvalidField[];
}

const CONTACT_TWICE =
  'contact: its e-mail address can have one seat, and the hold has several; send attendees, one for each held seat';

/**
 * Names the attendees of a confirmation that are duplicates. Resolves to undefined if there are none by now.
 */
export async function findDuplicates(
  find: FindTaken,
  { shardId, eventId, duplicateScope }: Principal,
  seats: readonly ChangedSeat[],
  isContact: boolean,
): Promise<Duplicates | undefined> {
  const digests = seats.map(({ attendeeDigest }) => attendeeDigest ?? null);
  const taken = await find({ shardId, eventId, digests: digests.filter((digest) => digest !== null) });
  const duplicates = digests.flatMap((digest, index) => {
    const first = digests.indexOf(digest);
    if (digest === null || (!taken.has(digest) && first === index)) return [];
    return { index, first, isTaken: taken.has(digest) };
  });
  if (isContact && duplicates.some(({ index, first }) => first < index))
    return { message: CONTACT_TWICE, invalidFields: [fieldOf('contact')] };
  if (duplicates.length === 0) return undefined;
  const sentences = duplicates.map(({ index, first, isTaken }) => {
    const rule = isTaken
      ? `already registered for the ${duplicateScope}`
      : `the same as that of attendees[${first}]`;
    return `${isContact ? 'contact' : `attendees[${index}]`}.emailAddress: ${rule}`;
  });
  return {
    message: [...new Set(sentences)].join('; '),
    invalidFields: duplicates.map(({ index }) => fieldOf(isContact ? 'contact' : `attendees/${index}`)),
  };
}

const fieldOf = (person: string): InvalidField => ({ field: `${person}/emailAddress`, rule: 'duplicate' });
