import { randomUUID } from 'node:crypto';
import { textArray, type Database, type DeliveryState } from '@floodgate/database';
import { systemClock } from '@floodgate/service';
import { sql } from 'kysely';
import type { CircuitBreaker } from './circuit-breaker.ts';

/*
 * A delivery is one message for one recipient. Its row in `deliveries` goes through these states:
 *
 *            lease, committed            recorded after the attempt
 *   queued ──────────────────▶ sending ──┬──▶ sent
 *     ▲                        ▲   ▲ │   ├──▶ undeliverable   refused permanently, or in every attempt
 *     │  no attempt was made   │   │ │   ├──▶ suppressed      the recipient must get no messages
 *     └────────────────────────┼───┼─┤   └──▶ cancelled       no longer wanted when it was loaded
 *                              │   │ └──▶ retry ──┐
 *                              │   └──────────────┘ lease, when it is due
 *                              └ lease expired: the process died. The row is leased again and marked `possibly_twice`.
 */

/** The deliveries of one kind and event. */
export interface Queue {
  shardId: number;
  eventId: number;
  kind: string;
}

/** A delivery that this process has leased. */
export interface Delivery extends Queue {
  /** The subject of the message: a serial of a registration or an entry of a waiting list, or a webhook's id. */
  subject: string;
  /** Edition of the message. It rises when the same subject needs a newer message. */
  revision: number;
  /** Attempts that counted, plus attempts in which the process died. */
  attempts: number;
  /** An earlier attempt may have succeeded without its outcome being recorded. */
  possiblyTwice: boolean;
  /** The process died in several attempts. This delivery may be the cause. */
  isSuspect: boolean;
  createdAt: Date;
  /** Milliseconds between the last attempt and the lease; null if there was no attempt. */
  triedMsAgo: number | null;
  lease: string;
  /** When this process asked for the lease, by the clock of the process. */
  leasedAt: number;
}

/** Queues deliveries of an event that do not exist yet, in one statement. `since` is the time at which a delivery became due. */
export async function queueDeliveries(
  db: Database,
  { shardId, eventId }: Omit<Queue, 'kind'>,
  deliveries: readonly (Pick<Delivery, 'kind' | 'subject'> & { since: Date })[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, created_at)
    select ${shardId}::integer, ${eventId}::integer, kind, subject, since
    from json_to_recordset(${JSON.stringify(deliveries)}::json) as queued (kind text, subject text, since timestamptz)
    on conflict (shard_id, event_id, kind, subject) do nothing`.execute(db);
}

export const deliveriesOf = (db: Database, { shardId, eventId, kind }: Queue) =>
  db.selectFrom('deliveries').where(({ and }) => and({ shard_id: shardId, event_id: eventId, kind }));

/** Returns whether at least `count` deliveries are due. Deliveries that wait for a retry do not count. */
export async function hasQueued(db: Database, queue: Queue, count: number): Promise<boolean> {
  const isDue = sql<boolean>`state in ('queued', 'retry', 'sending') and due_at <= now()`;
  const due = deliveriesOf(db, queue).where(isDue).select('kind').limit(1);
  return (await due.offset(count - 1).executeTakeFirst()) !== undefined;
}

/** A crashed process keeps its rows leased for this long. */
export const LEASE_SECONDS = 30;

/** A kind to lease. */
export interface LeasedKind {
  name: string;
  /**
   * Lease only deliveries of events with an active journal consumer of this kind, which is the operator's switch. Null: lease those of all
   * events.
   */
  consumerKind: string | null;
}

/**
 * Leases up to `most` due deliveries of a shard. They are committed as `sending` when this resolves. At most one of them is a suspect, and
 * none without `withSuspect`.
 */
export async function leaseDeliveries(
  db: Database,
  shardId: number,
  kinds: readonly LeasedKind[],
  most: number,
  withSuspect = true,
  clock = systemClock,
): Promise<Delivery[]> {
  const common = { shardId, lease: randomUUID(), leasedAt: clock.now() };
  const { rows } = await sql<{ leased: (Omit<Delivery, 'createdAt'> & { createdAt: string })[] }>`
    select lease_deliveries(
      ${shardId}, ${textArray(kinds.map(({ name }) => name))}::text[],
      ${textArray(kinds.map(({ consumerKind }) => consumerKind))}::text[],
      ${most}, ${withSuspect}, ${common.lease}, make_interval(secs => ${LEASE_SECONDS})
    ) as leased`.execute(db);
  return rows[0]!.leased.map((row) => ({ ...row, ...common, createdAt: new Date(row.createdAt) }));
}

/** Extends the leases of deliveries of one shard by LEASE_SECONDS. Updates `leasedAt` of the deliveries that this process still holds. */
export async function renewLeases(
  db: Database,
  shardId: number,
  deliveries: readonly Delivery[],
  clock = systemClock,
) {
  const renewedAt = clock.now();
  const { rows } = await sql<{ name: string }>`
    update deliveries d set due_at = now() + make_interval(secs => ${LEASE_SECONDS})
    from json_to_recordset(${JSON.stringify(deliveries)}::json)
      as l (kind text, "eventId" integer, subject text, lease uuid)
    where d.shard_id = ${shardId} and d.event_id = l."eventId" and d.kind = l.kind
      and d.subject = l.subject and d.lease = l.lease and state = 'sending'
    returning d.lease || ' ' || d.subject as name`.execute(db);
  const kept = new Set(rows.map(({ name }) => name));
  for (const delivery of deliveries)
    if (kept.has(`${delivery.lease} ${delivery.subject}`)) delivery.leasedAt = renewedAt;
}

/** The result of an attempt to send a message. */
export type Attempt =
  | { kind: 'sent' }
  /** The server refused this message, permanently or temporarily. */
  | { kind: 'refused'; isPermanent: boolean; reason: string }
  /** The server refused this message because of a policy or a limit. The cause may be this recipient or the sender. */
  | { kind: 'policy'; reason: string }
  /** The server seems to accept nothing. `isDoubtful`: it received the whole message, but its answer was lost. */
  | { kind: 'unavailable'; isDoubtful: boolean; reason: string };

type Refusal = Extract<Attempt, { kind: 'refused' | 'policy' }>;

/** The next state of a delivery. Without `attempts`, the attempt does not count. */
export interface Outcome {
  state: Exclude<DeliveryState, 'sending'>;
  reason: string | null;
  attempts?: number;
  possiblyTwice?: boolean;
  /** Delay until it is due again, for `queued` and `retry`. */
  dueInMs?: number;
}

/** A message and the server's answer. */
export interface Sent<Message> {
  message: Message;
  attempt: Attempt;
  /** When the attempt ended, by the clock of the process. */
  triedAt: number;
}

/** An attempt that has ended and is not recorded yet. Without the fields of `Sent`, nothing was sent. */
export interface Ended<Message> extends Partial<Sent<Message>> {
  shardId: number;
  delivery: Delivery;
  outcome: Outcome;
}

/** Records outcomes of deliveries of one shard. An outcome is ignored if another process has leased the row since. */
export async function recordOutcomes(
  db: Database,
  shardId: number,
  ended: readonly Ended<{ revision: number }>[],
  clock = systemClock,
): Promise<void> {
  const recordedAt = clock.now();
  const outcomes = ended.map(({ delivery, outcome, message, triedAt }) => ({
    ...delivery,
    dueInMs: 0,
    ...outcome,
    triedMsAgo: triedAt && recordedAt - triedAt,
    revision: message?.revision,
  }));
  await sql`select record_deliveries(${shardId}, ${JSON.stringify(outcomes)})`.execute(db);
}

const MINUTE_MS = 60_000;
/** Delays between attempts. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * MINUTE_MS);
/** From this attempt on, a message whose answer was lost counts as sent if an earlier attempt may have succeeded as well. */
const DOUBTFUL_ATTEMPTS = 3;

/** Puts a delivery back unchanged: there was no attempt, or the attempt says nothing about this delivery. */
export const putBack = ({ attempts }: Delivery, reason: string | null, dueInMs: number): Outcome => ({
  state: attempts === 0 ? 'queued' : 'retry',
  reason,
  dueInMs,
});

/** Returns the outcome of a failed attempt that counts: `retry`, or `undeliverable` after the last attempt. */
export function retry({ attempts }: Delivery, reason: string): Outcome {
  const dueInMs = RETRY_AFTER_MS[attempts];
  const ended = { reason, attempts: attempts + 1 };
  return dueInMs ? { ...ended, state: 'retry', dueInMs } : { ...ended, state: 'undeliverable' };
}

/** Returns the final outcome of a delivery whose process died in the last attempt; undefined if attempts are left. */
export const outcomeOfCrashes = ({ attempts }: Delivery): Outcome | undefined =>
  attempts > RETRY_AFTER_MS.length ? { state: 'undeliverable', reason: 'process died', attempts } : undefined;

/** Returns the outcome of an attempt, and reports the attempt to the breaker. */
export function outcomeOf(delivery: Delivery, attempt: Attempt, breaker: CircuitBreaker): Outcome {
  const attempts = delivery.attempts + 1;
  // Evaluated before the breaker counts this attempt.
  const isAboutThis = isAboutOne(delivery, breaker);
  breaker.count(attempt);
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts };
  if (attempt.kind !== 'unavailable') return outcomeOfRefusal(delivery, attempt, breaker);
  const { reason } = attempt;
  if (!attempt.isDoubtful)
    return isAboutThis ? retry(delivery, reason) : putBack(delivery, reason, breaker.opensForMs());
  if (attempts < DOUBTFUL_ATTEMPTS || !delivery.possiblyTwice)
    return { ...retry(delivery, reason), possiblyTwice: true };
  // The server has received the message more than once, so the recipient has it.
  return { state: 'sent', reason: `${reason} in attempt ${attempts}`, attempts, possiblyTwice: true };
}

function outcomeOfRefusal(delivery: Delivery, refusal: Refusal, breaker: CircuitBreaker): Outcome {
  const { kind, reason } = refusal;
  // A server that refuses many messages in a row refuses the sender, not the recipients.
  const refusesAll = breaker.refusesAll();
  if (kind === 'policy')
    return !refusesAll && breaker.hasAccepted()
      ? retry(delivery, reason)
      : putBack(delivery, reason, MINUTE_MS);
  if (refusesAll || !refusal.isPermanent) return retry(delivery, reason);
  return { state: 'undeliverable', reason, attempts: delivery.attempts + 1 };
}

/**
 * Whether the server has accepted other messages since it refused this one. Then this message is the cause, whatever the server answers.
 */
const isAboutOne = ({ triedMsAgo, leasedAt }: Delivery, breaker: CircuitBreaker) =>
  triedMsAgo !== null && breaker.hasAccepted(leasedAt - triedMsAgo);
