import { plainArray, type Database } from '@floodgate/database';
import { putBack, traceDeliveries, type Delivery, type Outcome } from '@floodgate/deliveries';
import { CONFIRMATION, type Event } from '@floodgate/events';
import { NEWEST, searchShard } from '@floodgate/registrations/find-matches';
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
  { shardId, id: eventId, calledOffAt }: Pick<Event, 'shardId' | 'id' | 'calledOffAt'>,
  cancelled: readonly Addressed[],
): Promise<Set<number>> {
  const found = new Set<number>();
  // All its registrations are cancelled, or will be.
  if (calledOffAt) return found;
  for (const { serial, emailAddress } of cancelled)
    if (await hasValid(db, { shardId, eventId, emailAddress })) found.add(serial);
  return found;
}

/** Returns whether an address has a valid registration for an event, as far as the search knows. */
async function hasValid(
  db: Database,
  { shardId, eventId, emailAddress }: { shardId: number; eventId: number; emailAddress: string },
) {
  const search = { terms: [emailAddress], events: [eventId] };
  const range = { from: NEWEST, direction: 'older', most: MAX_OF_ADDRESS } as const;
  const matches = await searchShard(db, shardId, search, range);
  const serials = matches.map(({ serial }) => serial);
  const { rows } = await sql`
    select from registrations
    where shard_id = ${shardId} and serial = any(${plainArray(serials)}::bigint[])
      and lower(email_address) = lower(${emailAddress}) and cancelled_at is null
      and coalesce(held_until = 'infinity', true)
    limit 1`.execute(db);
  return rows.length > 0;
}
