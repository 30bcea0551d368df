import { readFileSync } from 'node:fs';

/*
 * The file of a history: JSON, one value per line. The first line has the tickets, the last line what is
 * stored at the end, and each line between them a call. Times are milliseconds since the start, by the clock
 * of the process that made the calls.
 *
 * The calls that grant seats are "register", "bulk" and "hold". "offer" is a grant by the service itself, and
 * "expire" is the end of a hold. "replace" gives a seat to another attendee. "cancel", "release" and "leave"
 * release seats, and "reset" releases all seats of its partner. "capacity" adds seats. "confirm", "extend",
 * "join" and "read" change no counter.
 */

/** A seat of a call. */
export interface CalledSeat {
  ticket: number;
  /** The registration's own reference. Calls with the same reference are one call that was repeated. */
  id?: string;
  /** The pass reference: the answer of a grant, or the seat to change. */
  pass?: string | null;
  /** The answer for this seat. Default: the answer of the call. */
  answer?: string | null;
  /** Of a replacement: the pass of the seat. */
  old?: string;
  /** Seats that a raised capacity adds. */
  n?: number;
}

export interface Call {
  call: string;
  /** Of a waiting-list entry. */
  id?: string;
  partner: number | null;
  start: number;
  /** Null: no answer came, so the call may take effect at any later time, or never. */
  end: number | null;
  answer: string | null;
  /** All seats or none. */
  all?: boolean;
  /** What "read" answered about an entry of a waiting list. "done": "reset" has released all earlier seats. */
  state?: string;
  seats: CalledSeat[];
}

export interface FirstTicket {
  ticket: number;
  capacity: number;
  allocations?: { partner: number; reserved: number; cap: number | null }[];
}

export interface FinalSeat {
  ticket: number;
  id: string;
  pass: string;
  released: boolean;
  replaced: boolean;
}

export interface FinalState {
  tickets: { ticket: number; capacity: number; taken: number }[];
  seats: FinalSeat[];
}

/** A call with the number of its line. */
export interface LineOfCall extends Call {
  line: number;
}

export interface HistoryFile {
  tickets: FirstTicket[];
  calls: LineOfCall[];
  final: FinalState;
}

/** Returns the history of a file. Throws if a line is missing or cannot be read. */
export const readHistoryFile = (path: string): HistoryFile => parseHistory(readFileSync(path, 'utf8'));

export function parseHistory(text: string): HistoryFile {
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
  const first = lines.at(0) as { tickets?: FirstTicket[] } | undefined;
  const last = lines.at(-1) as { final?: FinalState } | undefined;
  if (!first?.tickets || !last?.final)
    throw new Error('the file needs a line with the tickets and a final line');
  const calls = (lines.slice(1, -1) as Call[]).map((call, index) => ({ ...call, line: index + 2 }));
  return { tickets: first.tickets, calls, final: last.final };
}
