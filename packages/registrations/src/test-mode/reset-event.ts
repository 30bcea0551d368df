import { answering, COMMON_FAILURES, success, TestEventReset } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Principal, Routes } from '@floodgate/http';
import type { Clock } from '@floodgate/service';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { sql, type RawBuilder } from 'kysely';
import { refusalOf } from '../answers.ts';
import type { CallFailure } from '../change/change-groups.ts';
import type { ChangeGroups, ChangeOutcome } from '../change/change-registrations.ts';

const SCHEMA = {
  operationId: 'resetTestEvent',
  ...answering('Registrations', TestEventReset, [...COMMON_FAILURES, '60', '91']),
  summary: 'Reset Test Event',
  description:
    'Cancels the registrations that the same partner made under this test event, up to 10,000 per call, and ' +
    'then deletes its Idempotency-Keys. Safe to repeat: call it again while `more` is true. For a live event ' +
    'the answer is 60.',
};

/**
 * POST /events/reset: cancels the caller's registrations under a test event, and deletes its idempotency
 * keys.
 */
export function addResetRoute(
  api: Routes,
  db: Database,
  cancels: ChangeGroups,
  answerWithinMs: number,
  clock?: Clock,
) {
  // One at a time, so that resets do not take the connections that live registrations need.
  const queue = createFairQueue({
    answerWithinMs,
    timeoutAppliesToRunning: false,
    patienceMs: answerWithinMs,
    clock,
  });
  api.post('/events/reset', { schema: SCHEMA }, async (request, reply) => {
    const { principal, raw } = request;
    if (principal.mode !== 'test') return reply.fail('60', { message: 'Only a test event can be reset' });
    const isCallerConnected = () => !raw.socket.destroyed;
    const reset = () => resetEvent(db, cancels, principal);
    const outcome = await queue(principal.partnerId, isCallerConnected, reset);
    if (typeof outcome === 'object') return success(outcome);
    return cancels.refuse(request, reply, ...refusalOf(principal, outcome));
  });
}

/** The event, and the partner whose registrations under it are reset. */
type PartOfEvent = Pick<Principal, 'shardId' | 'eventId' | 'partnerId'>;

const isOf = ({ shardId, eventId, partnerId }: PartOfEvent) =>
  sql`shard_id = ${shardId} and event_id = ${eventId} and partner_id = ${partnerId}`;

/** Limit of registrations, and of idempotency keys, in one reset. */
const LIMIT = 10_000;
/** A larger group would delay other registrations of its tickets. */
const PER_GROUP = 500;

/**
 * Cancels registrations of a partner under an event. When none is left, deletes the idempotency keys. Returns
 * how many registrations were cancelled, or why none were.
 */
export async function resetEvent(
  db: Database,
  { commit }: Pick<ChangeGroups, 'commit'>,
  part: PartOfEvent,
): Promise<Reset | ResetRefusal> {
  // First, because the freed seats would be offered to those who wait.
  if ((await leaveWaitingLists(db, part, PER_GROUP)) === PER_GROUP) return { cancelled: 0, more: true };
  const { head, after } = await readResetCursor(db, part);
  const { found, cursor } = await findUncancelled(db, part, after, LIMIT);
  let cancelled = 0;
  for (let first = 0; first < found.length; first += PER_GROUP) {
    const outcomes = await commit(found.slice(first, first + PER_GROUP), part.shardId);
    const refusal = outcomes.find(isRefusal);
    // Earlier cancellations are kept.
    if (refusal === 'overloaded' && cancelled > 0) return { cancelled, more: true };
    if (refusal) return refusal;
    cancelled += outcomes.filter((outcome) => outcome === 'cancelled').length;
  }
  await saveResetCursor(db, part, cursor ?? head);
  return { cancelled, more: cursor !== null || (await forgetKeys(db, part, LIMIT)) === LIMIT };
}

/** The result of a reset. `more`: call it again. */
interface Reset {
  cancelled: number;
  more: boolean;
}

type ResetRefusal = CallFailure | 'too-late' | 'admitted';

/**
 * The attendee of a replaced registration was changed meanwhile: the next reset finds the new registration.
 */
const isRefusal = (outcome: ChangeOutcome | CallFailure): outcome is ResetRefusal =>
  outcome !== null && !['cancelled', 'confirmed', 'replaced'].includes(outcome);

/** How long it waits for the lock of a ticket. */
const LOCK_WITHIN_MS = 1_000;

/**
 * Takes up to `limit` entries of a partner off the waiting lists of an event, and forgets their keys. Returns
 * how many.
 */
async function leaveWaitingLists(db: Database, { shardId, eventId, partnerId }: PartOfEvent, limit: number) {
  const { rows } = await sql<{ count: number }>`
    select leave_waiting(${shardId}::integer, ${LOCK_WITHIN_MS}::integer, ${eventId}::integer, ${partnerId}::integer,
      null::uuid, ${limit}::integer) as count`.execute(db);
  return rows[0]!.count;
}

/** `before`: the offset before its journal segment. Null: it is not in the journal yet. */
type Found = Record<'serial' | 'passCode', number> & { before: number | null };

/**
 * Finds up to `limit` registrations of a partner under an event that are not cancelled: first those that the
 * journal may not have, then those that it has after the offset. The result is complete up to the returned
 * cursor. If that is null, it is complete.
 */
export async function findUncancelled(db: Database, part: PartOfEvent, after: number, limit: number) {
  const { shardId, eventId, partnerId } = part;
  const inRanges = async (ranges: RawBuilder<unknown>, order = sql``) => {
    const { rows } = await sql<Found>`
      select r.serial, r.pass_code as "passCode", range.before
      from (${ranges}) range cross join lateral (
        select serial, pass_code from registrations
        where ${isOf(part)} and serial between range.first and range.last and cancelled_at is null
        offset 0
      ) r ${order} limit ${limit}`.execute(db);
    return rows;
  };
  // In this order, a batch that is finalized between the two reads is found twice. In the other order, it
  // would be missed.
  const unwritten = await inRanges(sql`
    select first_serial as first, last_serial as last, null::bigint as before from batches
    where shard_id = ${shardId} and journal_offset is null and state in ('pending', 'confirmed')
      and coalesce(event_id, ${eventId}) = ${eventId} and coalesce(partner_id, ${partnerId}) = ${partnerId}
    union all
    select serial, serial, null from changes cross join lateral unnest(serials) as serial
    where ${isOf(part)} and kind = 'confirmed'
    union all
    -- Reads all held seats of the shard by their index. Does so only if the partner holds some of this event.
    select serial, serial, null from registrations
    where ${isOf(part)} and held_until > '-infinity' and held_until < 'infinity' and cancelled_at is null and exists (
      select from held_seats h join tickets t on t.shard_id = h.shard_id and t.id = h.ticket_id
      where h.shard_id = ${shardId} and h.partner_id = ${partnerId} and t.event_id = ${eventId}
    )`);
  // Compared and sorted as rows, so that the planner can use only the index of a partner's segments.
  const journaled = await inRanges(
    sql`
      select event_id, partner_id, last_offset, last_offset - count as before, part.first, part.last
      from journal_segments cross join lateral (
        select first_serial as first, last_serial as last where serials is null
        union all select serial, serial from unnest(serials) as serial
      ) part
      where shard_id = ${shardId} and kind in ('confirmed', 'failed')
        and (event_id, partner_id, last_offset) > (${eventId}::integer, ${partnerId}::integer, ${after}::bigint)
        and (event_id, partner_id, last_offset) < (${eventId}::integer, ${partnerId}::integer + 1, 0)`,
    sql`order by range.event_id, range.partner_id, range.last_offset`,
  );
  const all = [...unwritten, ...journaled].slice(0, limit);
  const found = [...new Map(all.map((one) => [one.serial, { ...one, eventId, partnerId }])).values()];
  return { found, cursor: all.length < limit ? null : (all.at(-1)!.before ?? after) };
}

/**
 * Returns the last offset of the journal, and the offset up to which resets have cancelled all registrations.
 * The second is 0 if the journal was restored from a backup that ends before it.
 */
async function readResetCursor(db: Database, { shardId, eventId, partnerId }: PartOfEvent) {
  const { rows } = await sql<{ head: number; after: number }>`
    select h.last_offset as head, coalesce(r.journal_offset, 0) as after
    from journal_heads h left join test_resets r
      on r.shard_id = h.shard_id and r.event_id = ${eventId} and r.partner_id = ${partnerId}
      and r.journal_offset <= h.last_offset
    where h.shard_id = ${shardId}`.execute(db);
  return rows[0]!;
}

const saveResetCursor = (db: Database, { shardId, eventId, partnerId }: PartOfEvent, offset: number) =>
  sql`
    insert into test_resets (shard_id, event_id, partner_id, journal_offset)
    values (${shardId}, ${eventId}, ${partnerId}, ${offset})
    on conflict (shard_id, event_id, partner_id) do update set journal_offset = excluded.journal_offset`.execute(
    db,
  );

/** Deletes up to `limit` idempotency keys of a partner under an event. Returns how many. */
async function forgetKeys(db: Database, part: PartOfEvent, limit: number) {
  const { numAffectedRows } = await sql`
    delete from idempotency_keys
    where ${isOf(part)} and key in (select key from idempotency_keys where ${isOf(part)} limit ${limit})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}
