import { sql } from 'kysely';
import { randomUUIDv7 } from 'node:crypto';
import type { Attendee } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { RegistrationsOptions } from '../register/commit-batch.ts';
import { attendeeIn, drawPassCode } from '../register/reservation.ts';
import { RELAY_GRACE_SECONDS } from '../register/reserve-batch.ts';
import { createGroups, inSeparateRounds, type Groups } from './change-groups.ts';
import type { NamedRegistration } from './change-registrations.ts';

/** A registration whose seat another attendee gets. */
export interface Replacement extends NamedRegistration {
  attendee: Attendee;
  /** Null: the event allows duplicates. */
  attendeeDigest: string | null;
}

/** The registration of the new attendee. */
export interface NewRegistration {
  serial: number;
  passCode: number;
  /** Whether the seat has let in a person. Then the new pass counts as admitted. */
  wasAdmitted: boolean;
}

/**
 * Why no attendee was replaced. `too-late`: the deadline has passed, or the registration is cancelled or
 * held. `admitted`: its seat has let in a person. `duplicate`: the new attendee has a seat. Null: there is no
 * such registration.
 */
export type ReplacementRefusal = 'too-late' | 'admitted' | 'duplicate' | null;

type ReplacementOutcome = NewRegistration | ReplacementRefusal;

/** The result of the SQL function. */
type Answer =
  ({ outcome: 'replaced' } & NewRegistration) | { outcome: 'too-late' | 'admitted' | 'duplicate' };

/**
 * Gives the seat of a registration to another attendee, under a new pass reference. Finalization publishes
 * the change: the old registration is cancelled, the new one confirmed. Safe to repeat. Returns the id of the
 * batch, too. Only an operator changes the attendee of a seat that was admitted.
 */
export async function replaceAttendee(
  db: Database,
  shardId: number,
  replacement: Replacement,
  lockWithinMs = 0,
  byOperator = false,
) {
  const { serial, partnerId, eventId, passCode, deadline = null, attendee, attendeeDigest } = replacement;
  const batchId = randomUUIDv7();
  const { rows } = await sql<{ answer: Answer | null }>`
    select replace_attendee(
      ${shardId}::integer, ${lockWithinMs}::integer, make_interval(secs => ${RELAY_GRACE_SECONDS}), ${batchId}::uuid,
      ${serial}::bigint, ${partnerId}::integer, ${eventId}::integer, ${passCode}::bigint, ${deadline}::timestamptz,
      ${drawPassCode()}::bigint, ${attendeeDigest}::uuid, ${sql.join(Object.values(attendeeIn(attendee)))},
      ${byOperator}::boolean
    ) as answer`.execute(db);
  return { batchId, replaced: outcomeIn(rows[0]!.answer) };
}

function outcomeIn(answer: Answer | null): ReplacementOutcome {
  if (answer?.outcome !== 'replaced') return answer && answer.outcome;
  const { serial, passCode, wasAdmitted } = answer;
  return { serial, passCode, wasAdmitted };
}

/** Functions that replace attendees. */
export type ReplacementGroups = Groups<Replacement, ReplacementOutcome>;

/** Returns functions that replace attendees, one after the other. */
export const createReplacementGroups = (options: RegistrationsOptions): ReplacementGroups =>
  createGroups<Replacement, ReplacementOutcome>(
    { ...options, roundsOf: inSeparateRounds },
    async (shardId, [replacement]) => {
      const { db, lockWithinMs, onCommitted } = options;
      const { batchId, replaced } = await replaceAttendee(db, shardId, replacement!, lockWithinMs);
      if (typeof replaced === 'object' && replaced) onCommitted(shardId, batchId);
      return [replaced];
    },
  );
