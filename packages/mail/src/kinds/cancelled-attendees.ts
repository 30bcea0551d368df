import { textArray, plainArray, type Database } from '@floodgate/database';
import { putBack, traceDeliveries, type Delivery, type Outcome } from '@floodgate/deliveries';
import { CONFIRMATION, type Event } from '@floodgate/events';
import { sql } from 'kysely';

/** An e-mail about a cancellation waits this long for the outcome of a confirmation that is being sent. */
const RECHECK_MS = 1_000;

/**
 * Returns by subject the outcomes of e-mails about cancellations that must not be sent now: the attendee was
 * sent no confirmation, or it is not known yet. A confirmation that is not sent by now will not be sent.
 */
export async function findUnconfirmed(
  db: Database,
  deliveries: readonly Delivery[],
): Promise<Map<string, Outcome>> {
  const { shardId, eventId } = deliveries[0]!;
  const subjects = deliveries.map(({ subject }) => subject);
  const confirmations = await traceDeliveries(db, { shardId, eventId, kind: CONFIRMATION }, subjects);
  const outcomes = new Map<string, Outcome>();
  for (const delivery of deliveries) {
    const { hasArrived = false, state } = confirmations.get(delivery.subject) ?? {};
    if (hasArrived) continue;
    const isOpen = state === 'sending';
    const none = { state: 'cancelled', reason: 'no confirmation' } as const;
    outcomes.set(delivery.subject, isOpen ? putBack(delivery, null, RECHECK_MS) : none);
  }
  return outcomes;
}

/** Registrations of one address that are looked at, the newest first. */
const MAX_OF_ADDRESS = 100;

/** A registration and its address. */
interface Addressed {
  serial: number;
  emailAddress: string;
}

/**
 * Returns those of these cancelled registrations whose address has another registration for the event. The
 * event stays in the calendar of such an attendee. Registrations of the last seconds may be missing.
 */
export async function findWithOthers(
  db: Database,
  { shardId, id: eventId }: Pick<Event, 'shardId' | 'id'>,
  cancelled: readonly Addressed[],
): Promise<Set<number>> {
  const { rows } = await sql<{ serial: number }>`
    select query.serial
    from unnest(
      ${plainArray(cancelled.map(({ serial }) => serial))}::bigint[],
      ${textArray(cancelled.map(({ emailAddress }) => emailAddress))}::text[]
    ) as query (serial, email)
    cross join lateral (
      select same.serial
      from (
        select serial from attendees
        where shard_id = ${shardId} and event_id = ${eventId} and email = lower(query.email)
        order by serial desc limit ${MAX_OF_ADDRESS}
      ) same
      cross join lateral (
        select serial from registrations
        where shard_id = ${shardId} and serial = same.serial and cancelled_at is null
          and coalesce(held_until = 'infinity', true)
        offset 0
      ) valid
      limit 1
    ) other`.execute(db);
  return new Set(rows.map(({ serial }) => serial));
}
