import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';
import type { InvalidField } from '@floodgate/http';
import type { ChangedHold } from './holds.ts';

/** Attendees of an event, by the digests that the event allows once. */
export interface TakenQuery {
  shardId: number;
  eventId: number;
  digests: readonly string[];
}

/** Finds which digests have a seat already. Concurrent calls share a statement. */
export type FindTaken = (query: TakenQuery) => Promise<ReadonlySet<string>>;

/** Finds the digests that have a seat already, for queries of one shard. Resolves to one set per query, in order. */
export async function findTaken(db: Database, queries: readonly TakenQuery[]) {
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const wanted = queries.flatMap(({ eventId, digests }, query) =>
    digests.map((digest) => ({ query, eventId, digest })),
  );
  const column = (name: keyof (typeof wanted)[number]) => plainArray(wanted.map((one) => one[name]));
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
  const taken = rows.map(({ position }) => wanted[position - 1]!);
  return queries.map((_, index) => {
    const own = taken.filter(({ query }) => query === index);
    return new Set(own.map(({ digest }) => digest));
  });
}

const CONTACT_TWICE =
  'contact: its e-mail address can have one seat, and the hold has several; send attendees, one for each held seat';

/**
 * Returns the message about a confirmation with duplicates, and the fields that have them. Undefined: there are none by now. `scope` is
 * what an address can be registered for once.
 */
export function duplicatesIn(
  seats: ChangedHold['seats'],
  isContact: boolean,
  taken: ReadonlySet<string>,
  scope: 'event' | 'ticket',
) {
  const digests = seats.map(({ attendeeDigest }) => attendeeDigest ?? null);
  const isRepeated = digests.some((digest, index) => digest !== null && digests.indexOf(digest) < index);
  if (isContact && isRepeated) return { message: CONTACT_TWICE, invalidFields: [fieldOf('contact')] };
  const found = digests.flatMap((digest, index) => {
    if (digest === null) return [];
    const name = isContact ? 'contact' : `attendees[${index}]`;
    const first = digests.indexOf(digest);
    const rule = taken.has(digest)
      ? `already registered for the ${scope}`
      : `the same as that of attendees[${first}]`;
    if (!taken.has(digest) && first === index) return [];
    return [
      { sentence: `${name}.emailAddress: ${rule}`, field: fieldOf(isContact ? name : `attendees/${index}`) },
    ];
  });
  if (found.length === 0) return undefined;
  const sentences = new Set(found.map(({ sentence }) => sentence));
  return { message: [...sentences].join('; '), invalidFields: found.map(({ field }) => field) };
}

const fieldOf = (person: string): InvalidField => ({ field: `${person}/emailAddress`, rule: 'duplicate' });
