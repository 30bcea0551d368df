import { Type } from '@sinclair/typebox';
import { assertValid, defineAction, Id, Name, perform, text, whole } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import {
  formatPassReference,
  isEmailAddress,
  isName,
  normalizePerson,
  UUID_PATTERN,
} from '@floodgate/contract';
import { askShards, awayText, shardIds, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { SEAT_REPLACED, whyNotReplaced } from './answers.ts';
import { changeRegistrations, isSeatAdmitted } from './change/change-registrations.ts';
import { replaceAttendee } from './change/replace-attendee.ts';
import { redriveBatches } from './finalize/backlog.ts';
import { findByPassReference } from './list/list-registrations.ts';
import { digestFor, digestOfAttendee } from './register/reservation.ts';

/**
 * Cancels a registration of any partner, also after the deadline, and after its seat was admitted: then the
 * seat can be sold to a further person, and the report of the doors lists it (`wasAdmitted`).
 */
export const cancelRegistrationAction = defineAction({
  name: 'registration.cancel',
  input: Type.Object({ passReference: text(1, 255) }),
  run: async (transaction, { passReference }, note) => {
    const { row, partnerId, shardId } = await findByPassReference(transaction, passReference);
    // First: Citus lets no other role read what a function of the owner has changed in the same transaction.
    const wasAdmitted = await isSeatAdmitted(transaction, shardId, row.serial);
    const [outcome] = await changeRegistrations(transaction, shardId, 'cancelled', [{ ...row, partnerId }], {
      byOperator: true,
    });
    if (outcome === 'replaced') throw new Failure(SEAT_REPLACED);
    const wasCancelled = row.state === 'cancelled';
    // The audit log has only the serial: with the whole reference, a reader of the log could use the pass.
    if (!wasCancelled)
      note(`registration:${row.serial}`, {
        before: { state: row.state },
        after: { state: 'cancelled', wasAdmitted },
      });
    return { passReference, wasCancelled, wasAdmitted };
  },
});

const ADDRESS_TAKEN = 'another registration has this address, and the event allows one';

const NAME_RULE = 'one visible character at least, and no text direction characters inside';

const checkPerson = ({
  fullName,
  emailAddress,
}: {
  fullName?: string;
  emailAddress?: string;
}): Record<string, string> => ({
  ...(fullName !== undefined && !isName(fullName) && { fullName: NAME_RULE }),
  ...(emailAddress !== undefined && !isEmailAddress(emailAddress) && { emailAddress: 'an e-mail address' }),
});

/**
 * Corrects the name or address of an attendee. The pass stays valid; e-mails that are sent later have the new
 * text.
 */
export const correctRegistrationAction = defineAction({
  name: 'registration.correct',
  input: Type.Object({
    passReference: text(1, 255),
    fullName: Type.Optional(Name),
    emailAddress: Type.Optional(text(3, 254)),
  }),
  prepare: normalizePerson,
  check: ({ passReference: _passReference, ...person }): Record<string, string> => {
    if (Object.keys(person).length === 0)
      return { passReference: 'nothing to correct; give a name or an address' };
    return checkPerson(person);
  },
  refusals: { registrations_one_per_attendee: ADDRESS_TAKEN },
  run: async (transaction, { passReference, fullName, emailAddress }, note) => {
    const { row, shardId } = await findByPassReference(transaction, passReference);
    const { serial, eventId, ticketId, state } = row;
    if (state === 'cancelled') throw new Failure('the registration is cancelled');
    const event = await findEvent(transaction, eventId);
    const digest = emailAddress === undefined ? null : digestOfAttendee(event, ticketId, emailAddress);
    const { numAffectedRows } = await sql`
      update registrations set full_name = coalesce(${fullName ?? null}, full_name),
        email_address = coalesce(${emailAddress ?? null}, email_address),
        attendee_digest = case when attendee_digest is not null then coalesce(${digest}::uuid, attendee_digest) end
      where shard_id = ${shardId} and serial = ${serial} and full_name is not null`.execute(transaction);
    if (!numAffectedRows) throw new Failure('the registration has no attendee yet');
    // An insert: index_attendees may have read the old text and not have committed yet. Then the insert waits
    // for it.
    await sql`
      insert into search_entries (shard_id, serial, words)
      select shard_id, serial,
        words_of_entry(shard_id, serial, event_id, full_name, email_address, phone_number, partner_reference)
      from registrations
      where shard_id = ${shardId} and serial = ${serial}
      on conflict (shard_id, serial) do update set words = excluded.words`.execute(transaction);
    // The audit log contains no attendee data.
    const corrected = [fullName && 'name', emailAddress && 'e-mail address'].filter(Boolean);
    note(`registration:${serial}`, { after: { corrected } });
    return { passReference, corrected };
  },
});

/**
 * Gives the seat of a registration to another attendee, also after the deadline. The old pass is revoked.
 * After the seat was admitted, the new pass counts as admitted, too (`wasAdmitted`).
 */
export const replaceAttendeeAction = defineAction({
  name: 'registration.replace',
  input: Type.Object({ passReference: text(1, 255), fullName: Name, emailAddress: text(3, 254) }),
  prepare: normalizePerson,
  check: checkPerson,
  run: async (transaction, { passReference, ...attendee }, note) => {
    const { row, partnerId, shardId } = await findByPassReference(transaction, passReference);
    const { eventId, ticketId, passPrefix: prefix } = row;
    const event = await findEvent(transaction, eventId);
    const attendeeDigest = digestFor(event, ticketId, attendee);
    const replacement = { ...row, partnerId, attendee, attendeeDigest };
    const { replaced } = await replaceAttendee(transaction, shardId, replacement, 0, true);
    if (replaced === 'duplicate') throw new Failure(ADDRESS_TAKEN);
    if (replaced === null || typeof replaced === 'string') throw new Failure(whyNotReplaced(row.state));
    const { wasAdmitted, ...seat } = replaced;
    note(`registration:${row.serial}`, { after: { replacedBy: seat.serial, wasAdmitted } });
    return {
      passReference: formatPassReference({ prefix, eventId, ...seat }),
      replaced: passReference,
      wasAdmitted,
    };
  },
});

const RedriveLimit = whole(1, 100_000);

/** Selects failed batches: all, or those with these ids, of an event, or with a reason. */
export const RedriveSelection = Type.Object({
  batchIds: Type.Optional(
    Type.Array(Type.String({ pattern: UUID_PATTERN }), { minItems: 1, description: 'UUIDs' }),
  ),
  eventId: typedAs('--event', Type.Optional(Id)),
  /** As the list of failed batches shows it. */
  reason: Type.Optional(text(1, 64)),
  limit: Type.Optional(RedriveLimit),
});

/** Redrives selected batches of a shard, oldest first. Returns their ids. */
export const redriveAction = defineAction({
  name: 'batch.redrive',
  input: Type.Object({
    ...RedriveSelection.properties,
    shardId: whole(0, 2_147_483_647),
    limit: RedriveLimit,
  }),
  run: async (transaction, selection, note) => {
    const batchIds = await redriveBatches(transaction, selection);
    const change = { before: { state: 'failed' }, after: { state: 'pending' } };
    for (const id of batchIds) note(`batch:${id}`, change);
    return batchIds;
  },
});

const REDRIVE_LIMIT = 1_000;
const NONE_FOUND = 'no failed batch has this id';

/**
 * Redrives failed batches of all shards, with one transaction per shard: a shard that does not answer does
 * not stop the others. `given` is a selection, which can be anything. Returns the ids of the batches, and the
 * shards that do not answer. Throws InvalidInput before it sends anything to Postgres, and Failure if it
 * finds none of the named batches.
 */
export async function redriveShards(db: Database, given: object, actor: string) {
  assertValid({ input: RedriveSelection }, given, actor);
  const { limit = REDRIVE_LIMIT, ...selection } = given;
  let batchIds: string[] = [];
  const { away } = await askShards(await shardIds(db), async (shardId) => {
    const left = limit - batchIds.length;
    if (left === 0) return;
    const redriven = await perform(db, redriveAction, { ...selection, shardId, limit: left }, actor);
    batchIds = batchIds.concat(redriven);
  });
  if (selection.batchIds && batchIds.length === 0)
    throw new Failure(away.length > 0 ? `${NONE_FOUND}; ${awayText(away)}` : NONE_FOUND);
  return { batchIds, away };
}
