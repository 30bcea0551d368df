import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parsePassReference } from '@floodgate/contract';
import { sql } from 'kysely';
import type { Violation } from './check-history.ts';
import type { Deployment } from './deployment.ts';
import type { EventOnSale } from './events-on-sale.ts';
import { type CallRecord, type History, type Stored, type StoredRegistration } from './history.ts';

// The history of a round as a file, which a second checker reads. The format stands in
// test/histories/history-file.ts, and is written here without that file, so that the two checkers share no
// code.

const CHECKER = fileURLToPath(new URL('../histories/main.ts', import.meta.url));
/** The clocks of the suite and of Postgres are read one after the other. */
const CLOCK_MS = 50;
const MOST_SHOWN = 2_000;

/** A ticket as it was before the first call. */
export interface FirstTicket {
  ticket: number;
  capacity: number;
  allocations: { partner: number; reserved: number; cap: number | null }[];
}

export async function readFirstTickets(
  { db }: Deployment,
  events: readonly EventOnSale[],
): Promise<FirstTicket[]> {
  const tickets = new Map<number, FirstTicket>();
  for (const { fixture, ticketIds } of events) {
    const { rows } = await sql<{ ticket: number; capacity: number }>`
      select id as ticket, capacity from tickets
      where shard_id = ${fixture.shardId} and id = any(${[...ticketIds]}::integer[])`.execute(db);
    const allocated = await sql<{ ticket: number; partner: number; reserved: number; cap: number | null }>`
      select ticket_id as ticket, partner_id as partner, reserved, cap from allocations
      where shard_id = ${fixture.shardId} and ticket_id = any(${[...ticketIds]}::integer[])`.execute(db);
    for (const row of rows) {
      const own = allocated.rows.filter(({ ticket }) => ticket === row.ticket);
      const allocations = own.map(({ partner, reserved, cap }) => ({ partner, reserved, cap }));
      tickets.set(row.ticket, { ...row, allocations });
    }
  }
  return [...tickets.values()];
}

export interface WrittenRound {
  first: readonly FirstTicket[];
  history: History;
  stored: Stored;
  /** By the index that calls have. */
  partnerIds: readonly number[];
}

/** Writes the file of a round. Returns its path. */
export async function writeHistory(directory: string, name: string, round: WrittenRound): Promise<string> {
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, `${name}.ndjson`);
  const lines = [{ tickets: round.first }, ...linesOf(round), { final: finalOf(round.stored) }];
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const COUNTED = new Set(
  'register bulk hold replace confirm release cancel reset capacity join leave read'.split(' '),
);

function linesOf({ history, stored, partnerIds }: WrittenRound): object[] {
  const calls = history.calls
    .filter(({ call }) => COUNTED.has(call))
    .map(({ event, ...record }) => ({ ...record, partner: partnerIds[event]! }));
  return [...calls, ...expiriesOf(history, stored), ...offersOf(history, stored, partnerIds)].toSorted(
    (one, other) => one.start - other.start,
  );
}

type Line = Omit<CallRecord, 'event'> & { partner: number | null };

/** The times at which holds ended because the suite has set them. */
function expiriesOf({ expiries }: History, { registrations, offered }: Stored): Line[] {
  const serialOf = ({ passReference }: StoredRegistration) => parsePassReference(passReference)!.serial;
  const passes = new Map(
    [...registrations, ...offered].map((one) => [`${one.ticketId} ${serialOf(one)}`, one.passReference]),
  );
  return expiries.flatMap(({ ticketId, serial, at }) => {
    const pass = passes.get(`${ticketId} ${serial}`);
    const seats = [{ ticket: ticketId, pass: pass ?? null }];
    return pass
      ? [{ call: 'expire', partner: null, start: at - CLOCK_MS, end: null, answer: null, seats }]
      : [];
  });
}

/** The seats that waiting-list entries were offered: between joining and the first time that the offer was read. */
function offersOf({ waiting, calls }: History, stored: Stored, partnerIds: readonly number[]): Line[] {
  const byEntry = Map.groupBy(stored.offered, entryOf);
  return waiting.flatMap((record) => {
    const seats = (byEntry.get(record.id) ?? []).map(({ ticketId, passReference }) => ({
      ticket: ticketId,
      id: record.id,
      pass: passReference,
    }));
    if (seats.length === 0) return [];
    const own = calls.filter(({ id }) => id === record.id);
    const start = Math.min(...own.filter(({ call }) => call === 'join').map((call) => call.start));
    const read = own.find(({ state }) => state !== undefined && state !== 'waiting');
    const partner = partnerIds[record.event]!;
    return [{ call: 'offer', id: record.id, partner, start, end: read?.end ?? null, answer: '00', seats }];
  });
}

/** The entry of a seat that was offered: see read-stored.ts. */
const entryOf = ({ requestId }: StoredRegistration) => requestId.slice(0, requestId.lastIndexOf('.'));

function finalOf({ registrations, offered, tickets }: Stored): object {
  const seatOf = (id: (one: StoredRegistration) => string) => (one: StoredRegistration) => ({
    ticket: one.ticketId,
    id: id(one),
    pass: one.passReference,
    released: one.isCancelled,
    replaced: one.isReplaced,
  });
  return {
    tickets: tickets.map(({ id, capacity, taken }) => ({ ticket: id, capacity, taken })),
    seats: [...registrations.map(seatOf(({ requestId }) => requestId)), ...offered.map(seatOf(entryOf))],
  };
}

/** The exit code of the second checker if there are too many possible orders. */
const UNDECIDED = 2;

/** Runs the second checker in a process of its own. Its refusal is a violation. */
export async function checkFile(file: string): Promise<{ violations: Violation[]; isDecided: boolean }> {
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(process.execPath, [CHECKER, file], (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, output: stdout + stderr }),
    );
  });
  if (code === 0 || code === UNDECIDED) return { violations: [], isDecided: code === 0 };
  const problem = `the second checker refuses the history:\n${output.slice(0, MOST_SHOWN)}`;
  return { violations: [{ kind: 'wrong', problem }], isDecided: true };
}
