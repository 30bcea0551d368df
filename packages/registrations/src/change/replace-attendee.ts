import { sql } from 'kysely';
import { randomUUIDv7 } from 'node:crypto';
import type { Attendee } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { RegistrationsOptions } from '../register/commit-batch.ts';
import { attendeeIn, drawPassCode, RELAY_GRACE_SECONDS } from '../register/reserve-batch.ts';
import type { RegistrationRow } from '../status/find-registrations.ts';
import { createGroups, type NamedRegistration } from './change-registrations.ts';

/** A registration whose seat another attendee gets. */
export interface Replacement extends NamedRegistration {
  attendee: Attendee;
  /** Null: the event allows duplicates. */
  attendeeDigest: string | null;
}

/** Null: there is no such registration. */
export type Replaced =
  { outcome: 'replaced'; serial: number; passCode: number } | { outcome: 'too-late' | 'duplicate' } | null;

/**
 * Gives the seat of a registration to another attendee, under a new pass reference. Finalization publishes the change: the old
 * registration is cancelled, the new one confirmed. Safe to repeat. Returns the id of the batch, too.
 */
export async function replaceAttendee(
  db: Database,
  shardId: number,
  replacement: Replacement,
  lockWithinMs = 0,
) {
  const { serial, partnerId, eventId, passCode, deadline = null, attendeeDigest } = replacement;
  const { fullName, emailAddress, phoneNumber, gender, tableOrSeat, extraData1, extraData2 } = attendeeIn(
    replacement.attendee,
  );
  const batchId = randomUUIDv7();
  const { rows } = await sql<{ replaced: Replaced }>`
    select replace_attendee(
      ${shardId}::integer, ${lockWithinMs}::integer, make_interval(secs => ${RELAY_GRACE_SECONDS}), ${batchId}::uuid,
      ${serial}::bigint, ${partnerId}::integer, ${eventId}::integer, ${passCode}::bigint, ${deadline}::timestamptz,
      ${drawPassCode()}::bigint, ${attendeeDigest}::uuid, ${fullName}, ${emailAddress}, ${phoneNumber}, ${gender},
      ${tableOrSeat}, ${extraData1}, ${extraData2}
    ) as replaced`.execute(db);
  return { batchId, replaced: rows[0]!.replaced };
}

/** Returns why another attendee cannot get the seat of a registration in this state. */
export function whyNotReplaced(state: RegistrationRow['state']): string {
  if (state === 'held') return 'The registration is held; confirm it first';
  return state === 'cancelled' ? 'The registration is cancelled' : 'The deadline for changes has passed';
}

export type ReplacementGroups = ReturnType<typeof createReplacementGroups>;

/** Returns functions that replace attendees, one after the other. */
export const createReplacementGroups = (options: RegistrationsOptions) =>
  createGroups<Replacement, Replaced>(options, async (shardId, replacements) => {
    const outcomes: Replaced[] = [];
    for (const replacement of replacements) {
      const { batchId, replaced } = await replaceAttendee(
        options.db,
        shardId,
        replacement,
        options.lockWithinMs,
      );
      if (replaced?.outcome === 'replaced') options.onCommitted(shardId, batchId);
      outcomes.push(replaced);
    }
    return outcomes;
  });
