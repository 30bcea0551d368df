import type { AttemptEnd, History, RequestRecord, Stored, StoredRegistration } from './history.ts';

/** What partners may run into while a fault lasts, beyond 90 and 91. */
export interface Tolerance {
  /** Somebody who cannot answer was stopped, or the wire to the partners was broken. */
  mayTimeOut: boolean;
  /** False in a rolling restart and without the queue: nothing that was read fails. */
  mayFail: boolean;
}

/** A broken promise. */
export interface Violation {
  kind: 'lost' | 'doubled' | 'oversold' | 'published twice' | 'stuck' | 'wrong';
  problem: string;
  /** The request it shows on. */
  request?: RequestRecord;
}

const GRANTED = '00';
const SOLD_OUT = '32';
const UNKNOWN = '91';
/** Final: this registration does not exist. */
const REFUSALS = new Set([SOLD_OUT, '36', '37']);
/** Nothing was reserved by this attempt; it may be repeated. */
const RETRYABLE = new Set(['90', UNKNOWN, '41']);

/**
 * Holds a history against what is stored: every "00" is there, once, and is what was asked for; what was refused is
 * not there; what is unknown is there once or not at all; no ticket is oversold; everything is finalized.
 */
export function checkHistory(history: History, stored: Stored, tolerance: Tolerance): Violation[] {
  const rows = Map.groupBy(stored.registrations, ({ requestId }) => requestId);
  const known = new Set(history.requests.map(({ id }) => id));
  return [
    ...history.requests.flatMap((request) => checkRequest(request, rows.get(request.id) ?? [], tolerance)),
    ...stored.registrations.filter(({ requestId }) => !known.has(requestId)).map(nobodysRegistration),
    ...history.lookups.flatMap(checkLookup),
    ...checkTickets(history, stored),
    ...checkGroups(history, rows),
  ];
}

function checkRequest(request: RequestRecord, rows: StoredRegistration[], tolerance: Tolerance): Violation[] {
  const violations: Violation[] = [];
  const violate = (kind: Violation['kind'], problem: string) => violations.push({ kind, problem, request });
  const ends = request.attempts.map(({ end }) => end);
  const codes = ends.flatMap((end) => (end.kind === 'answered' ? [end.code] : []));
  const granted = new Set(ends.flatMap((end) => passReferenceOf(end) ?? []));
  const [row] = rows;

  for (const code of codes) {
    if (code !== GRANTED && !REFUSALS.has(code) && !RETRYABLE.has(code))
      violate('wrong', `was answered ${code}`);
  }
  if (ends.some(({ kind }) => kind === 'timed-out') && !tolerance.mayTimeOut)
    violate('stuck', 'was left without an answer');
  if (!tolerance.mayFail && codes.some((code) => RETRYABLE.has(code)))
    violate('wrong', 'failed, though nothing was to fail');

  if (rows.length > 1) violate('doubled', `is stored ${rows.length} times`);
  if (granted.size > 1) violate('doubled', `was given ${granted.size} pass references`);
  if (granted.size > 0 && !row) violate('lost', 'was granted and is not stored');
  if (row && granted.size === 1 && !granted.has(row.passReference))
    violate('wrong', `was given another pass reference than the ${row.passReference} that is stored`);
  if (row && row.ticketId !== request.ticketId) violate('wrong', `is stored for ticket ${row.ticketId}`);
  const isRefused = codes.some((code) => REFUSALS.has(code));
  if (isRefused && (row || granted.size > 0)) violate('wrong', 'was refused, and granted as well');
  if (row && granted.size === 0 && !ends.some((end) => isUnknown(end, tolerance)))
    violate('wrong', 'is stored, though every answer said that it is not');
  if (row && row.state !== 'confirmed' && row.state !== 'failed') violate('stuck', `is still ${row.state}`);
  if (row) for (const problem of wrongWithChanges(request, row, tolerance)) violate('wrong', problem);
  return violations;
}

/**
 * What is said of a change is so, and nothing is changed that nobody asked for, except that held seats go back. The journal tells
 * of each change once.
 */
function wrongWithChanges(
  { isHeld, cancellations, confirmations }: RequestRecord,
  { isCancelled, changes, state, ...row }: StoredRegistration,
  tolerance: Tolerance,
): string[] {
  const mayBe = (ends: AttemptEnd[]) => isSaid(ends) || ends.some((end) => isUnknown(end, tolerance));
  const told = changes.join();
  const expected = isCancelled ? ['cancelled', `${state},cancelled`] : [row.isHeld ? '' : state];
  const isKept = isSaid(confirmations) && cancellations.length === 0;
  const problems: [boolean, string][] = [
    [isSaid(cancellations) && !isCancelled, 'was cancelled, and holds its seat'],
    [isCancelled && !isHeld && !mayBe(cancellations), 'is cancelled, though nobody was told so'],
    [isCancelled && isKept, 'was confirmed, and is cancelled'],
    [row.isHeld && !isHeld, 'is held, though nobody asked for that'],
    [row.isHeld && isSaid(confirmations), 'was confirmed, and is still held'],
    [isHeld && !row.isHeld && !isCancelled && !mayBe(confirmations), 'was kept, though nobody was told so'],
    [!expected.includes(told), `is told of as ${told || 'nothing'}, expected ${expected.join(' or ')}`],
  ];
  const refusals = [...cancellations.map(refusalOf), ...confirmations.map(refusalOf)].filter(
    // Too late to confirm: the time was over, or it was cancelled.
    (code) => code !== null && !(code === TOO_LATE && isHeld && isCancelled),
  );
  return [
    ...problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem),
    ...refusals.map((code) => `a change of it was answered ${code}`),
  ];
}

const TOO_LATE = '35';

const isSaid = (ends: AttemptEnd[]) => ends.some((end) => end.kind === 'answered' && end.code === GRANTED);

/** The code of a final refusal; null where it is none. */
const refusalOf = (end: AttemptEnd) =>
  end.kind === 'answered' && end.code !== GRANTED && !RETRYABLE.has(end.code) ? end.code : null;

const passReferenceOf = (end: AttemptEnd) =>
  end.kind === 'answered' && end.code === GRANTED ? end.passReference : null;

/** Whether the attempt may have been registered without the partner knowing. */
function isUnknown(end: AttemptEnd, { mayFail }: Tolerance): boolean {
  if (end.kind === 'answered') return end.code === UNKNOWN;
  return mayFail && end.kind !== 'refused';
}

function nobodysRegistration({ requestId, passReference }: StoredRegistration): Violation {
  return { kind: 'wrong', problem: `${passReference} is stored for ${requestId}, which nobody asked for` };
}

function checkLookup({ what, end }: History['lookups'][number]): Violation[] {
  if (end.kind !== 'answered' || end.status === 200 || end.status === 503) return [];
  return [{ kind: 'lost', problem: `${what} was there, and then answered ${end.code}` }];
}

/** Of a group all are stored, or none. */
function checkGroups({ requests }: History, rows: Map<string, StoredRegistration[]>): Violation[] {
  const groups = Map.groupBy(
    requests.filter(({ group }) => group !== null),
    ({ group }) => group,
  );
  return [...groups.values()].flatMap((members): Violation[] => {
    const stored = members.filter(({ id }) => rows.has(id)).length;
    if (stored === 0 || stored === members.length) return [];
    return [
      {
        kind: 'wrong',
        problem: `${stored} of a group of ${members.length} are stored`,
        request: members[0]!,
      },
    ];
  });
}

/**
 * A ticket that was ever sold out has to be full, unless seats of it were given back. To a group it may be said of seats that
 * others of the group would have had.
 */
function checkTickets({ requests }: History, { registrations, tickets }: Stored): Violation[] {
  const soldOut = new Set(
    requests
      .filter(
        ({ group, attempts }) =>
          group === null && attempts.some(({ end }) => end.kind === 'answered' && end.code === SOLD_OUT),
      )
      .map(({ ticketId }) => ticketId),
  );
  const isGivenBack = new Set(
    requests
      .filter(({ isHeld, cancellations }) => isHeld || cancellations.length > 0)
      .map(({ ticketId }) => ticketId),
  );
  const seats = Map.groupBy(
    registrations.filter(({ isCancelled }) => !isCancelled),
    ({ ticketId }) => ticketId,
  );
  return tickets.flatMap(({ id, capacity, taken }): Violation[] => {
    const held = seats.get(id)?.length ?? 0;
    if (held > capacity)
      return [{ kind: 'oversold', problem: `ticket ${id} has ${held} of ${capacity} seats` }];
    if (held !== taken)
      return [{ kind: 'wrong', problem: `ticket ${id} counts ${taken} seats, holds ${held}` }];
    if (soldOut.has(id) && !isGivenBack.has(id) && taken < capacity)
      return [
        { kind: 'wrong', problem: `ticket ${id} was called sold out with ${taken} of ${capacity} taken` },
      ];
    return [];
  });
}
