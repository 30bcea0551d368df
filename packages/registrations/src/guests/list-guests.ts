import { normalizePerson, RESPONSE_CODES, type RegistrationRequest } from '@floodgate/contract';
import { brokenRules, GUEST_TEXTS, identityOf, type Guest, type GuestText } from './guest.ts';
import { findColumns, type GuestColumns, type GuestField } from './guest-columns.ts';
import { readRows, type Row } from './read-rows.ts';

/** A ticket of the event. */
export interface TicketName {
  id: number;
  title: string;
}

/** A row of a list: a guest, or why it is none. */
export type ListedRow =
  | { line: number; guest: Guest }
  | { line: number; reason: string }
  /** An earlier row has the same guest. */
  | { line: number; duplicateOf: number };

/** A guest list that was read. */
export interface GuestList {
  rows: ListedRow[];
  /** The names of columns that are not used. */
  ignored: string[];
}

export interface ListOptions {
  tickets: readonly TicketName[];
  /** The ticket of rows that name none. */
  ticketId?: number | undefined;
  /** Mappings of columns: see findColumns. */
  map?: readonly string[] | undefined;
}

/**
 * Reads a guest list, and checks each row by the rules of a partner's request. Throws InvalidInput if no row can be
 * read. Reads no registrations.
 */
export function listGuests(csv: string, { tickets, ticketId, map = [] }: ListOptions): GuestList {
  const { header, rows } = readRows(csv);
  const columns = findColumns(header, map);
  const findTicket = ticketFinder(tickets, ticketId);
  const lines = new Map<string, number>();
  const listed = rows.map((row): ListedRow => {
    const { line } = row;
    if (row.cells.slice(header.length).some((cell) => cell !== ''))
      return { line, reason: `the row has ${row.cells.length} cells, and the header has ${header.length}` };
    const checked = checkRow(row, columns, findTicket);
    if (typeof checked === 'string') return { line, reason: checked };
    const duplicateOf = lines.getOrInsert(checked.partnerReference, line);
    return duplicateOf === line ? { line, guest: checked } : { line, duplicateOf };
  });
  return { rows: listed, ignored: columns.ignored };
}

type FindTicket = (cell: string) => number | string;

/** Returns the guest of a row, or the rules that it breaks. */
function checkRow({ cells }: Row, { indexes }: GuestColumns, findTicket: FindTicket): Guest | string {
  const textOf = (field: GuestField) =>
    (indexes[field] ?? [])
      .map((index) => cells[index] ?? '')
      .filter((cell) => cell !== '')
      .join(' ');
  const texts: Partial<Record<GuestText, string>> = {};
  for (const field of GUEST_TEXTS) {
    const text = textOf(field);
    if (text !== '') texts[field] = text;
  }
  normalizePerson(texts);
  const ticketId = findTicket(textOf('ticket'));
  const broken = Object.entries(brokenRules(texts)).map(([field, rule]) => `${field}: ${rule}`);
  if (typeof ticketId === 'string') broken.push(`ticket: ${ticketId}`);
  if (typeof ticketId === 'string' || broken.length > 0) return broken.join('; ');
  const { fullName = '', emailAddress = '', ...others } = texts;
  const request: RegistrationRequest = {
    ...others,
    fullName,
    emailAddress,
    organizedEventTicketID: ticketId,
  };
  return { ...request, partnerReference: request.partnerReference ?? identityOf(request) };
}

/** Returns a function that finds the ticket of a cell: by id, by exact title, or the one for rows without. */
function ticketFinder(tickets: readonly TicketName[], byDefault?: number): FindTicket {
  const ids = new Set(tickets.map(({ id }) => id));
  const byTitle = Map.groupBy(tickets, ({ title }) => title.normalize());
  const known = (id: number) => (ids.has(id) ? id : RESPONSE_CODES['30'].message);
  return (cell) => {
    if (cell === '')
      return byDefault === undefined ? 'the row names none, and no ticket is given' : known(byDefault);
    const named = byTitle.get(cell.normalize());
    if (named?.length === 1) return named[0]!.id;
    if (named) return 'several tickets have this title; name it by its id';
    return /^\d{1,10}$/.test(cell) ? known(Number(cell)) : RESPONSE_CODES['30'].message;
  };
}
