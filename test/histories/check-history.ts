import { checkCounter, type CounterHistory, type Operation, type Reading } from './bounded-counter.ts';
import type { CalledSeat, FirstTicket, HistoryFile, LineOfCall } from './history-file.ts';
import { hasEffect, mayHaveEffect, readSeats, type Refusal, type Seat } from './seats.ts';

/*
 * The second checker of a history. It shares no code with the service or with the first checker, and reads
 * nothing but the file. First it compares the calls with the final state, seat by seat (seats.ts). Then it
 * decides for each ticket whether its calls are linearizable as a bounded counter (bounded-counter.ts). Calls
 * for one ticket only are checked completely, because a history is linearizable if and only if it is so for
 * each object.
 *
 * What it does not check:
 * - The order of a grant and a release of the same seat that overlap, if very many of a ticket do. It prints for
 *   how many tickets.
 * - That seats of several tickets in one call are granted at the same instant. Each ticket is checked by itself.
 * - Limits of one partner: its reserved seats, its cap, its share of held seats. Where one of them, or a waiting list,
 *   can be the reason for "sold out", that answer is not judged.
 * - "Sold out" for a basket with several tickets.
 * - An unknown call took effect if the final state has its seat. It does not try the other possibility.
 * - Everything that is not a counter: states, attendees, messages, e-mails. The first checker compares those.
 */

export interface Result {
  tickets: number;
  calls: number;
  seats: number;
  /** Answers "sold out": judged, and left out because of a limit of a partner or a waiting list. */
  soldOut: { judged: number; leftOut: number };
  refusals: Refusal[];
  /** Tickets for which it was not checked that each seat is released after its grant. */
  relaxed: number;
  /** Tickets with too many possible orders. */
  undecided: string[];
}

/** Returns what is wrong with a history, each time with the line of the call that proves it. */
export function checkHistory(history: HistoryFile): Result {
  const { seats, refusals } = readSeats(history);
  const result: Result = {
    tickets: history.tickets.length,
    calls: history.calls.length,
    seats: seats.length,
    soldOut: { judged: 0, leftOut: 0 },
    refusals,
    relaxed: 0,
    undecided: [],
  };
  const byTicket = Map.groupBy(seats, ({ ticket }) => ticket);
  for (const ticket of history.tickets) {
    const own = byTicket.get(ticket.ticket) ?? [];
    const readings = readingsOf(history, ticket, own, result.soldOut);
    const verdict = checkCounter(counterOf(history, ticket, own, readings));
    const where = `ticket ${ticket.ticket}: `;
    if (verdict.kind === 'refused') refusals.push({ line: verdict.line, problem: where + verdict.problem });
    if (verdict.kind === 'ok' && verdict.isRelaxed) result.relaxed += 1;
    if (verdict.kind === 'undecided') result.undecided.push(where + verdict.problem);
    refusals.push(...checkFinal(history, ticket, own));
  }
  return result;
}

/** The counter at the end is the number of seats that are taken. */
function checkFinal(
  { final, calls }: HistoryFile,
  { ticket }: FirstTicket,
  seats: readonly Seat[],
): Refusal[] {
  const end = final.tickets.find((one) => one.ticket === ticket);
  const taken = seats.filter(({ released, isReplaced }) => released === null && !isReplaced).length;
  const line = calls.length + 2;
  if (!end) return [{ line, problem: `ticket ${ticket} is gone` }];
  if (end.taken < 0 || end.taken > end.capacity)
    return [{ line, problem: `ticket ${ticket} ends with ${end.taken} of ${end.capacity} seats taken` }];
  if (end.taken === taken) return [];
  return [
    { line, problem: `ticket ${ticket} ends with ${end.taken} seats taken, and its calls leave ${taken}` },
  ];
}

function counterOf(
  history: HistoryFile,
  ticket: FirstTicket,
  seats: readonly Seat[],
  readings: Reading[],
): CounterHistory {
  const grants = operationsOf(
    seats.filter(({ replaces }) => replaces === null),
    ({ granted, call }) => ({ span: granted, group: call }),
    1,
  );
  const ended = seats.filter(({ released }) => released !== null);
  const releases = operationsOf(
    ended,
    ({ released, releasedBy }) => ({ span: released!, group: releasedBy }),
    -1,
  );
  for (const [seat, release] of releases) release.after = grants.get(rootOf(seat));
  const raises = raisesOf(history, ticket);
  return {
    operations: [...new Set([...grants.values(), ...releases.values()])],
    readings,
    capacityAt: (time) => capacityOf(ticket, raises, (raise) => raise.start <= time),
  };
}

/** The registration that the seat was granted to first. */
const rootOf = (seat: Seat): Seat => (seat.replaces ? rootOf(seat.replaces) : seat);

/** The operation of each seat. Seats of a group share one. */
function operationsOf(
  seats: readonly Seat[],
  read: (seat: Seat) => { span: Seat['granted']; group: string | null },
  amount: number,
): Map<Seat, Operation> {
  const groups = Map.groupBy(seats, (seat) => read(seat).group ?? seat);
  const operations = new Map<Seat, Operation>();
  for (const members of groups.values()) {
    const { line, start, end } = read(members[0]!).span;
    const operation = { line, start, end, amount: amount * members.length };
    for (const seat of members) operations.set(seat, operation);
  }
  return operations;
}

interface Raise {
  start: number;
  end: number;
  seats: number;
}

const raisesOf = ({ calls }: HistoryFile, { ticket }: FirstTicket): Raise[] =>
  calls
    .filter(({ call, answer }) => call === 'capacity' && mayHaveEffect(answer))
    .flatMap(({ start, end, answer, seats }) =>
      seats
        .filter((seat) => seat.ticket === ticket)
        .map(({ n = 0 }) => ({ start, end: hasEffect(answer) ? (end ?? Infinity) : Infinity, seats: n })),
    );

const capacityOf = ({ capacity }: FirstTicket, raises: readonly Raise[], counts: (raise: Raise) => boolean) =>
  raises.filter(counts).reduce((sum, { seats }) => sum + seats, capacity);

/** The answers "sold out" of a ticket that only a full counter can explain. */
function readingsOf(
  history: HistoryFile,
  ticket: FirstTicket,
  seats: readonly Seat[],
  counts: Result['soldOut'],
): Reading[] {
  const raises = raisesOf(history, ticket);
  const waits = waitsOf(history.calls, ticket.ticket);
  return refusedWants(history.calls, ticket.ticket).flatMap(({ call, start, end, seats: wanted }) => {
    const isWaitedFor = waits.some((wait) => wait.start <= end && wait.end >= start);
    const isLeftOut = isWaitedFor || reachesCap(ticket, call.partner, seats, { start, end, wanted });
    counts[isLeftOut ? 'leftOut' : 'judged'] += 1;
    if (isLeftOut) return [];
    const capacity = capacityOf(ticket, raises, (raise) => raise.end <= start);
    const atLeast = capacity - setAside(ticket, call.partner) - wanted + 1;
    return [{ line: call.line, start, end, atLeast }];
  });
}

/** A wish for seats that was answered "sold out". */
interface Want {
  call: LineOfCall;
  start: number;
  end: number;
  seats: number;
}

const SOLD_OUT = '32';

function refusedWants(calls: readonly LineOfCall[], ticket: number): Want[] {
  const wanting = calls.filter(({ call }) => call === 'register' || call === 'bulk' || call === 'hold');
  const starts = firstStarts(wanting);
  return wanting.flatMap((call) => {
    const isBasket = call.call === 'hold' && call.seats.some((seat) => seat.ticket !== ticket);
    const own = call.seats.filter((seat) => seat.ticket === ticket);
    const refused = own.find((seat) => (seat.answer ?? call.answer) === SOLD_OUT);
    if (!refused || isBasket || call.end === null) return [];
    // The answer of a call that was repeated can be the answer of its first attempt.
    const start = starts.get(referenceOf(refused, call)) ?? call.start;
    return [{ call, start, end: call.end, seats: call.all ? own.length : 1 }];
  });
}

const referenceOf = (seat: CalledSeat, call: LineOfCall) => seat.id ?? String(call.line);

function firstStarts(calls: readonly LineOfCall[]): Map<string, number> {
  const starts = new Map<string, number>();
  for (const call of calls.filter(({ answer }) => mayHaveEffect(answer) || answer === SOLD_OUT))
    for (const seat of call.seats) {
      const id = referenceOf(seat, call);
      starts.set(id, Math.min(call.start, starts.get(id) ?? Infinity));
    }
  return starts;
}

/** When entries of the ticket's waiting list may have waited. Then nobody else gets a seat. */
function waitsOf(calls: readonly LineOfCall[], ticket: number): { start: number; end: number }[] {
  const ends = new Map<string, number>();
  for (const { call, id, end, answer, state } of calls) {
    const isOver = (call === 'read' && state !== 'waiting') || call === 'leave';
    if (isOver && hasEffect(answer) && id !== undefined && end !== null && !ends.has(id)) ends.set(id, end);
  }
  return calls
    .filter(
      ({ call, answer, seats }) => call === 'join' && mayHaveEffect(answer) && seats[0]?.ticket === ticket,
    )
    .map(({ id = '', start }) => ({ start, end: ends.get(id) ?? Infinity }));
}

/** Seats that are reserved for others. */
const setAside = ({ allocations = [] }: FirstTicket, partner: number | null) =>
  allocations.filter((one) => one.partner !== partner).reduce((sum, { reserved }) => sum + reserved, 0);

/** Whether the partner may have had so many seats that its cap refused the next. */
function reachesCap(
  { allocations = [] }: FirstTicket,
  partner: number | null,
  seats: readonly Seat[],
  { start, end, wanted }: { start: number; end: number; wanted: number },
): boolean {
  const cap = allocations.find((one) => one.partner === partner)?.cap ?? null;
  if (cap === null) return false;
  const own = seats.filter(
    (seat) =>
      seat.partner === partner &&
      seat.replaces === null &&
      seat.granted.start <= end &&
      (seat.released?.end ?? Infinity) >= start,
  );
  return own.length + wanted > cap;
}
