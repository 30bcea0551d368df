import { maskPassCodes, parseMaskedReference } from '@floodgate/contract';
import { inCamelCase, type Database, type JournalKind } from '@floodgate/database';
import { NotFound } from '@floodgate/service/failure';
import { readJournal, type CursorProblem } from '@floodgate/journal';
import {
  findRegistrations,
  passReferenceOf,
  registrationsOf,
  type RegistrationRow,
} from '../status/find-registrations.ts';

/** The journal kinds that partners read. The others are about tickets. */
export const KINDS = ['confirmed', 'cancelled', 'failed'] as const satisfies JournalKind[];

/** Which registrations to list. */
interface Selection {
  shardId: number;
  partnerId: number;
  eventId: number;
  state?: (typeof KINDS)[number] | undefined;
  partnerReference?: string | undefined;
}

/** The message for a reader that cannot continue from its cursor. */
export const CURSOR_PROBLEMS: Record<CursorProblem, string> = {
  'cursor-expired':
    'the entries after this cursor are no longer kept; without it the list starts at the beginning',
  'cursor-ahead': 'the history does not reach this cursor; without it the list starts at the beginning',
};

/**
 * Reads the changes of one partner's registrations for an event after a cursor, oldest first. Each row is the
 * registration as it was after the change. A reader that continues from the cursor misses no change and sees
 * none twice. If that cannot be guaranteed, returns the problem of the cursor. If the state is rare, a page
 * may be short or empty although there is more. With a reference of the partner, reads the registrations that
 * have it, as they are now.
 */
export async function listRegistrations(db: Database, selection: Selection, after: number, limit: number) {
  const { shardId, eventId, partnerId, state, partnerReference } = selection;
  if (partnerReference !== undefined)
    return listByReference(db, { ...selection, partnerReference }, after, limit);
  const filter = { shardId, eventId, partnerId, kinds: state ? [state] : KINDS };
  const page = await readJournal(db, filter, after, limit);
  if (typeof page === 'string') return page;
  const { entries, cursor, more } = page;
  const registrations = await registrationsOf(db, shardId, entries);
  return { rows: registrations.filter((row) => row !== undefined), cursor: String(cursor), more };
}

/** The cursor is a serial. */
async function listByReference(
  db: Database,
  { shardId, eventId, partnerId, partnerReference, state }: Selection & { partnerReference: string },
  after: number,
  limit: number,
) {
  const queries = await inCamelCase(db)
    .selectFrom('registrations')
    .select(['shardId', 'eventId', 'partnerId', 'serial'])
    .where((where) => where.and({ shardId, eventId, partnerId, partnerReference }))
    .where('serial', '>', after)
    .orderBy('serial')
    .limit(limit)
    .execute();
  const registrations = await findRegistrations(db, queries);
  const rows = registrations
    .filter((row) => row !== undefined)
    .filter((row) => (state ?? row.state) === row.state);
  const cursor = String(queries.at(-1)?.serial ?? after);
  return { rows, cursor, more: queries.length === limit };
}

function isReferenceOf(row: RegistrationRow, passReference: string) {
  const whole = passReferenceOf(row);
  return passReference === whole || passReference === maskPassCodes(whole);
}

/**
 * Returns the registration with this pass reference, which can be masked, its partner and its shard. Throws
 * Failure if there is none. Only for operators.
 */
export async function findByPassReference(db: Database, passReference: string) {
  const found = await findByReference(db, passReference);
  if (!found) throw new NotFound('no such registration');
  return found;
}

/** Returns the same, or null if there is none. */
export async function findByReference(db: Database, passReference: string) {
  const { eventId = 0, serial = 0 } = parseMaskedReference(passReference) ?? {};
  const event = db.selectFrom('events').select('shard_id').where('id', '=', eventId);
  const shardId = (await event.executeTakeFirst())?.shard_id ?? 0;
  const registration = db.selectFrom('registrations').select('partner_id').where('shard_id', '=', shardId);
  const owner = await registration.where('serial', '=', serial).executeTakeFirst();
  const partnerId = owner?.partner_id ?? 0;
  const [row] = await findRegistrations(db, [{ shardId, eventId, partnerId, serial }]);
  return row && isReferenceOf(row, passReference) ? { row, partnerId, shardId } : null;
}
