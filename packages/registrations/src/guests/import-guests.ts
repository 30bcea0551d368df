import { perform } from '@floodgate/audit';
import { statementFailure, type Database } from '@floodgate/database';
import { findEvent, type Event } from '@floodgate/events';
import { retry, sqlStateOf } from '@floodgate/service';
import { assertFields } from '@floodgate/service/load-config';
import { GuestImport, importGuestsAction } from './actions.ts';
import { assertDecoded } from './decode-guest-list.ts';
import type { Guest } from './guest.ts';
import { listGuests, type ListedRow } from './list-guests.ts';
import { guestPreview } from './preview-guests.ts';
import type { GuestOutcome } from './register-guests.ts';

/** The outcome of a row of a guest list. */
export interface GuestRow {
  /** Where the row begins in the file. */
  line: number;
  outcome: 'registered' | 'would-register' | 'already-registered' | 'duplicate' | 'refused';
  passReference: string | null;
  /** Why the row registered nobody. Contains no cell of the file. */
  reason: string | null;
}

/** The number of rows by outcome. */
export interface GuestCounts {
  registered: number;
  alreadyRegistered: number;
  /** Rows with the guest of an earlier row. */
  duplicates: number;
  refused: number;
}

/** The end of an import. */
export interface ImportSummary extends GuestCounts {
  dryRun: boolean;
  /** The names of columns that are not used. */
  ignoredColumns: string[];
}

/** The progress of an import. */
export interface ImportProgress {
  /** The rows that were done last, in order. */
  rows: GuestRow[];
  done: number;
  total: number;
}

/** Rows of one commit, with the lock of their tickets. */
const ROWS_PER_COMMIT = 500;

/**
 * Registers the guests of a list in commits of at most 500 rows, each guest once: also if the list is sent again, by
 * two imports at a time, or after a crash in the middle. `given` is a GuestImport from outside, which can be anything.
 * Calls `onProgress` after each commit. With `dryRun` it stores nothing, and says what would become of each row. Throws
 * InvalidInput if the list cannot be read, and Failure if the event cannot have guests.
 */
export async function importGuests(
  db: Database,
  given: object,
  actor: string,
  onProgress: (progress: ImportProgress) => unknown,
): Promise<ImportSummary> {
  assertFields(GuestImport, given);
  const { eventId, csv, ticketId, map, dryRun = false } = given;
  assertDecoded(csv);
  const event = await findEvent(db, eventId);
  const { rows, ignored } = listGuests(csv, { tickets: await readTickets(db, event), ticketId, map });
  const register = dryRun ? guestPreview(db, event) : registrar(db, event, actor);
  const counts: GuestCounts = { registered: 0, alreadyRegistered: 0, duplicates: 0, refused: 0 };
  for (let start = 0; start < rows.length; start += ROWS_PER_COMMIT) {
    const chunk = rows.slice(start, start + ROWS_PER_COMMIT);
    const guests = chunk.flatMap((row) => ('guest' in row ? [row.guest] : []));
    const outcomes = guests.length > 0 ? await register(guests) : [];
    const done = reportOf(chunk, outcomes, dryRun);
    for (const { outcome } of done) counts[COUNTED[outcome]] += 1;
    await onProgress({ rows: done, done: start + chunk.length, total: rows.length });
  }
  return { ...counts, dryRun, ignoredColumns: ignored };
}

const COUNTED = {
  registered: 'registered',
  'would-register': 'registered',
  'already-registered': 'alreadyRegistered',
  duplicate: 'duplicates',
  refused: 'refused',
} as const satisfies Record<GuestRow['outcome'], keyof GuestCounts>;

const readTickets = (db: Database, { shardId, id }: Event) =>
  db
    .selectFrom('tickets')
    .select(['id', 'title'])
    .where(({ and }) => and({ shard_id: shardId, event_id: id }))
    .execute();

const RETRY = { delayMs: 250, withinMs: 30_000 };

/**
 * Returns a function that registers guests. After a failure it repeats the commit, also if the failed one may have
 * committed: guests who have a registration keep it.
 */
const registrar =
  (db: Database, { id: eventId }: Event, actor: string) =>
  (guests: readonly Guest[]) =>
    retry(() => perform(db, importGuestsAction, { eventId, guests: [...guests] }, actor), {
      ...RETRY,
      shouldRetry: mayPass,
    });

/** Whether the same statement may succeed later. A missing privilege or table (class 42) stays missing. */
const mayPass = (error: unknown) =>
  !sqlStateOf(error)?.startsWith('42') &&
  ['not-sent', 'unknown', 'conflict', 'locked', 'unavailable'].includes(statementFailure(error));

/** Returns the outcomes of rows, in order. */
function reportOf(
  chunk: readonly ListedRow[],
  outcomes: readonly GuestOutcome[],
  dryRun: boolean,
): GuestRow[] {
  const next = outcomes.values();
  return chunk.map((row): GuestRow => {
    const { line } = row;
    if ('reason' in row) return { line, outcome: 'refused', passReference: null, reason: row.reason };
    if ('duplicateOf' in row)
      return {
        line,
        outcome: 'duplicate',
        passReference: null,
        reason: `the same guest as line ${row.duplicateOf}`,
      };
    return { line, ...rowOf(next.next().value!, dryRun) };
  });
}

const CANCELLED = 'the registration was cancelled; "guest add" registers the guest again';

/** A preview shows no pass references: it has rolled back its seats. */
function rowOf(outcome: GuestOutcome, dryRun: boolean): Omit<GuestRow, 'line'> {
  if (outcome.kind === 'refused') return { outcome: 'refused', passReference: null, reason: outcome.reason };
  const passReference = dryRun ? null : outcome.passReference;
  if (outcome.kind === 'registered')
    return { outcome: dryRun ? 'would-register' : 'registered', passReference, reason: null };
  return { outcome: 'already-registered', passReference, reason: outcome.isCancelled ? CANCELLED : null };
}
