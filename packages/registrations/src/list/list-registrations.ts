import { parsePassReference } from '@floodgate/contract';
import type { Database, JournalKind } from '@floodgate/database';
import { findShard } from '@floodgate/events';
import { readJournal, type CursorProblem, type JournalEntry } from '@floodgate/journal';
import { findRegistrations, type RegistrationRow } from '../status/find-registrations.ts';

/** Changes of registrations, oldest first: a registration is there once for each. */
export interface RegistrationPage {
  rows: RegistrationRow[];
  cursor: string;
  more: boolean;
}

/** What partners read of the journal. The rest is about tickets. */
export const REGISTRATION_KINDS = ['confirmed', 'cancelled', 'failed'] as const satisfies JournalKind[];

/** The answer for a reader that cannot continue. */
export const CURSOR_PROBLEMS: Record<CursorProblem, string> = {
  'cursor-expired': 'what follows this cursor is no longer kept; without it the list starts at the beginning',
  'cursor-ahead': 'the history does not reach this cursor; without it the list starts at the beginning',
};

interface Selection {
  shardId: number;
  eventId: number;
  partnerId: number;
  kinds?: readonly JournalKind[];
}

/**
 * Reads the changes of one partner's registrations for an event that come after a cursor, as they were when they happened. A
 * reader that goes on from the cursor skips none and sees none twice; if that cannot be promised, it gets a refusal. If kinds
 * are rare, a page may be short, or empty, although there is more.
 */
export async function listRegistrations(
  db: Database,
  { kinds = REGISTRATION_KINDS, ...of }: Selection,
  after: number,
  limit: number,
): Promise<RegistrationPage | CursorProblem> {
  const page = await readJournal(db, { ...of, kinds }, after, limit);
  if (typeof page === 'string') return page;
  const { entries, cursor, more } = page;
  const found = await registrationsOf(db, of.shardId, entries);
  const rows = found.filter((row) => row !== undefined);
  return { rows, cursor: String(cursor), more };
}

/** Returns the registration that each entry of a page is about, as it was then. Undefined: there is none. */
export async function registrationsOf(
  db: Database,
  shardId: number,
  entries: readonly JournalEntry[],
): Promise<(RegistrationRow | undefined)[]> {
  const found = await findRegistrations(
    db,
    entries.map(({ eventId, partnerId, serial }) => ({ shardId, eventId, partnerId, serial: serial! })),
  );
  return found.map((row, index) => row && asOf(entries[index]!, row));
}

/** The registration as it was with this entry, whatever has happened to it since. */
function asOf({ kind, at }: JournalEntry, row: RegistrationRow): RegistrationRow {
  if (kind === 'cancelled') {
    // Its batch may have been finalized later, without it.
    const { finishedAt, cancelledAt } = row;
    const wasFinished = finishedAt && cancelledAt && finishedAt <= cancelledAt;
    return { ...row, state: kind, finishedAt: wasFinished ? finishedAt : null };
  }
  // A later cancellation has an entry of its own.
  if (kind === 'confirmed') return { ...row, state: kind, cancelledAt: null };
  return { ...row, state: 'failed', finishedAt: at, cancelledAt: null };
}

/** Returns the registration that a pass reference names by its event and serial, whosever it is, and whose it is. */
export async function findByPassReference(db: Database, passReference: string) {
  const parts = parsePassReference(passReference);
  const shardId = parts && (await findShard(db, parts.eventId));
  if (parts === null || shardId === null || shardId === undefined) return undefined;
  const { eventId, serial } = parts;
  const registration = db.selectFrom('registrations').select('partner_id').where('shard_id', '=', shardId);
  const owner = await registration.where('serial', '=', serial).executeTakeFirst();
  if (!owner) return undefined;
  const partnerId = owner.partner_id;
  const [row] = await findRegistrations(db, [{ shardId, eventId, partnerId, serial }]);
  return row && { row, partnerId, shardId };
}
