import { parsePassReference } from '@floodgate/contract';
import type { Database, JournalKind } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { readJournal, type CursorProblem, type JournalFilter } from '@floodgate/journal';
import { findRegistrations, passReferenceOf, registrationsOf } from '../status/find-registrations.ts';

/** The journal kinds that partners read. The others are about tickets. */
export const REGISTRATION_KINDS = ['confirmed', 'cancelled', 'failed'] as const satisfies JournalKind[];

/** The answer for a reader that cannot continue. */
export const CURSOR_PROBLEMS: Record<CursorProblem, string> = {
  'cursor-expired': 'what follows this cursor is no longer kept; without it the list starts at the beginning',
  'cursor-ahead': 'the history does not reach this cursor; without it the list starts at the beginning',
};

/**
 * Reads the changes of one partner's registrations for an event that come after a cursor, oldest first: a registration is there
 * once for each, as it was when it happened. A reader that goes on from the cursor skips none and sees none twice; if that cannot
 * be promised, it gets a refusal. If kinds are rare, a page may be short, or empty, although there is more.
 */
export async function listRegistrations(
  db: Database,
  { kinds = REGISTRATION_KINDS, ...of }: JournalFilter,
  after: number,
  limit: number,
) {
  const page = await readJournal(db, { ...of, kinds }, after, limit);
  if (typeof page === 'string') return page;
  const { entries, cursor, more } = page;
  const found = await registrationsOf(db, of.shardId, entries);
  return { rows: found.filter((row) => row !== undefined), cursor: String(cursor), more };
}

/** Returns the registration that a pass reference names, whosever it is, and whose it is. Throws a Failure if there is none. */
export async function findByPassReference(db: Database, passReference: string) {
  const { eventId = 0, serial = 0 } = parsePassReference(passReference) ?? {};
  const event = db.selectFrom('events').select('shard_id').where('id', '=', eventId);
  const shardId = (await event.executeTakeFirst())?.shard_id ?? 0;
  const registration = db.selectFrom('registrations').select('partner_id').where('shard_id', '=', shardId);
  const owner = await registration.where('serial', '=', serial).executeTakeFirst();
  const partnerId = owner?.partner_id ?? 0;
  const [row] = await findRegistrations(db, [{ shardId, eventId, partnerId, serial }]);
  if (!row || passReferenceOf(row) !== passReference) throw new Failure('no such registration');
  return { row, partnerId, shardId };
}
