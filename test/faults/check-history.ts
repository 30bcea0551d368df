import {
  addressOf,
  isSaid,
  labelOf,
  type AttemptEnd,
  type CallWindow,
  type History,
  type RequestRecord,
  type Stored,
  type StoredAllocation,
  type StoredRegistration,
} from './history.ts';

/** What partners may run into while a fault lasts, beyond 90 and 91. */
export interface Tolerance {
  /** Whether the machine kept up during a call. Otherwise a failure of the call says nothing about the service. */
  keptUp?: (during: CallWindow) => boolean;
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
const TOO_LATE = '35';
/** Final: this registration does not exist. */
const REFUSALS = new Set([SOLD_OUT, '36', '37']);
/** Nothing was reserved by this attempt; it may be repeated. */
const RETRYABLE = new Set(['90', UNKNOWN, '41']);

/**
 * Holds a history against what is stored: every "00" is there, once, and is what was asked for; what was
 * refused is not there; what is unknown is there once or not at all; no ticket is oversold; everything is
 * finalized.
 */
export function checkHistory(history: History, stored: Stored, tolerance: Tolerance): Violation[] {
  const rows = Map.groupBy(stored.registrations, ({ requestId }) => requestId);
  const known = new Set(history.requests.map(({ id }) => id));
  const successors = Map.groupBy(history.requests, ({ replaces }) => replaces);
  return [
    ...history.requests.flatMap((request) => {
      const own = rows.get(request.id) ?? [];
      const others = successors.get(request) ?? [];
      return [
        ...checkRequest(request, own, endsOf(others), tolerance),
        ...checkReplaced(request, own[0], others, rows),
      ];
    }),
    ...stored.registrations.filter(({ requestId }) => !known.has(requestId)).map(nobodysRegistration),
    ...history.lookups.flatMap(checkLookup),
    ...checkTickets(history, stored),
    ...stored.allocations.flatMap(checkAllocation),
    ...checkGroups(history, rows),
  ];
}

const endsOf = (requests: readonly RequestRecord[]) =>
  requests.flatMap(({ attempts }) => attempts.map(({ end }) => end));

/** `replacements`: how the attempts ended to give its seat to others. */
function checkRequest(
  request: RequestRecord,
  rows: StoredRegistration[],
  replacements: AttemptEnd[],
  tolerance: Tolerance,
): Violation[] {
  const violations: Violation[] = [];
  const violate = (kind: Violation['kind'], problem: string) => violations.push({ kind, problem, request });
  const ends = endsOf([request]);
  const codes = ends.flatMap((end) => (end.kind === 'answered' ? [end.code] : []));
  const granted = new Set(ends.flatMap((end) => passReferenceOf(end) ?? []));
  const [row] = rows;

  for (const code of codes) {
    if (code !== GRANTED && !isRefusal(code, request) && !RETRYABLE.has(code))
      violate('wrong', `was answered ${code}`);
  }
  for (const { kind, problem } of failuresOf(ends, tolerance)) violate(kind, problem);

  if (rows.length > 1) violate('doubled', `is stored ${rows.length} times`);
  if (granted.size > 1) violate('doubled', `was given ${granted.size} pass references`);
  if (granted.size > 0 && !row) violate('lost', 'was granted and is not stored');
  if (row && granted.size === 1 && !granted.has(row.passReference))
    violate('wrong', `was given another pass reference than the ${row.passReference} that is stored`);
  if (row && row.ticketId !== request.ticketId) violate('wrong', `is stored for ticket ${row.ticketId}`);
  const isRefused = codes.some((code) => isRefusal(code, request));
  if (isRefused && (row || granted.size > 0)) violate('wrong', 'was refused, and granted as well');
  if (row && granted.size === 0 && !ends.some((end) => isUnknown(end, tolerance)))
    violate('wrong', 'is stored, though every answer said that it is not');
  if (row && row.state !== 'confirmed' && row.state !== 'failed') violate('stuck', `is still ${row.state}`);
  if (row)
    for (const problem of wrongWithChanges(request, row, replacements, tolerance)) violate('wrong', problem);
  return violations;
}

/** Failures for which there is no reason: no fault, and a machine that kept up. */
export function failuresOf(
  ends: readonly AttemptEnd[],
  tolerance: Tolerance,
): Pick<Violation, 'kind' | 'problem'>[] {
  const judged = ends.filter((end) => keptUp(end, tolerance));
  const isLeft = !tolerance.mayTimeOut && judged.some(({ kind }) => kind === 'timed-out');
  const hasFailed = !tolerance.mayFail && judged.some(isFailure);
  return [
    ...(isLeft ? [{ kind: 'stuck', problem: 'was left without an answer' } as const] : []),
    ...(hasFailed ? [{ kind: 'wrong', problem: 'failed, though nothing was to fail' } as const] : []),
  ];
}

const isFailure = (end: AttemptEnd) => end.kind === 'answered' && RETRYABLE.has(end.code);

/** How many failures without another reason are excused because the machine stood still. */
export function countExcused({ requests, waiting }: History, tolerance: Tolerance): number {
  const ends = [...endsOf(requests), ...waiting.flatMap(({ joins }) => joins)];
  const excused = ends.filter((end) => !keptUp(end, tolerance));
  return (
    (tolerance.mayTimeOut ? 0 : excused.filter(({ kind }) => kind === 'timed-out').length) +
    (tolerance.mayFail ? 0 : excused.filter(isFailure).length)
  );
}

const keptUp = ({ during }: AttemptEnd, tolerance: Tolerance) =>
  during === undefined || (tolerance.keptUp?.(during) ?? true);

/** A seat can be had from another registration until that is cancelled. */
const isRefusal = (code: string, { replaces }: RequestRecord) =>
  REFUSALS.has(code) || (code === TOO_LATE && replaces !== null);

/** A registration that was replaced is cancelled, and exactly one other has its seat. */
function checkReplaced(
  request: RequestRecord,
  row: StoredRegistration | undefined,
  successors: RequestRecord[],
  rows: Map<string, StoredRegistration[]>,
): Violation[] {
  const stored = successors.filter(({ id }) => rows.has(id)).length;
  const isTooLate = endsOf(successors).some((end) => labelOf(end) === TOO_LATE);
  const problems: [boolean, Violation['kind'], string][] = [
    [stored > 1, 'doubled', `has given its seat to ${stored} others`],
    [stored > 0 && !row?.isReplaced, 'wrong', 'has given its seat to another, and does not know it'],
    [row?.isReplaced === true && stored === 0, 'lost', 'was replaced by nobody'],
    [
      (stored > 0 || isTooLate) && !row?.isCancelled,
      'wrong',
      'was replaced or cancelled, and holds its seat',
    ],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, kind, problem]) => ({ kind, problem, request }));
}

const checkAllocation = ({ ticketId, cap, seats }: StoredAllocation): Violation[] =>
  cap !== null && seats > cap
    ? [
        {
          kind: 'oversold',
          problem: `a partner has ${seats} seats of ticket ${ticketId}, and may have ${cap}`,
        },
      ]
    : [];

/**
 * What is said of a change is so, and nothing is changed that nobody asked for, except that held seats go
 * back. The journal tells of each change once.
 */
function wrongWithChanges(
  request: RequestRecord,
  { isCancelled, changes, state, address, ...row }: StoredRegistration,
  replacements: AttemptEnd[],
  tolerance: Tolerance,
): string[] {
  const { isHeld, cancellations, confirmations, releases } = request;
  const mayBe = (ends: AttemptEnd[]) => isSaid(ends) || ends.some((end) => isUnknown(end, tolerance));
  const told = changes.join();
  const expected = isCancelled ? ['cancelled', `${state},cancelled`] : [row.isHeld ? '' : state];
  const ends = [...cancellations, ...releases, ...replacements];
  const isNamed =
    [request.id, request.group].some((id) => id !== null && address === addressOf(id)) ||
    (request.isInBasket && address === null && (row.isHeld || isCancelled));
  const problems: [boolean, string][] = [
    [isSaid(ends) && !isCancelled, 'was cancelled, and holds its seat'],
    [isCancelled && !isHeld && !mayBe(ends), 'is cancelled, though nobody was told so'],
    [isCancelled && isSaid(confirmations) && !mayBe(ends), 'was confirmed, and is cancelled'],
    [isSaid(releases) && isSaid(confirmations) && !mayBe(cancellations), 'was released, and confirmed'],
    [row.isHeld && !isHeld, 'is held, though nobody asked for that'],
    [row.isHeld && isSaid(confirmations), 'was confirmed, and is still held'],
    [isHeld && !row.isHeld && !isCancelled && !mayBe(confirmations), 'was kept, though nobody was told so'],
    [!isNamed, 'is stored for another attendee'],
    [!expected.includes(told), `is told of as ${told || 'nothing'}, expected ${expected.join(' or ')}`],
  ];
  // Too late to confirm: the time was over, or it was cancelled. Of a basket, a reset may have cancelled another seat.
  const isOver = isHeld && (isCancelled || (request.isInBasket && mayBe(cancellations)));
  const refusals = [
    // The seat of somebody whose attendee was changed is no longer theirs to cancel.
    ...cancellations.map((end) => refusalOf(end, isOver || mayBe(replacements))),
    ...[...confirmations, ...request.extensions].map((end) => refusalOf(end, isOver)),
    ...releases.map((end) => refusalOf(end, mayBe(confirmations))),
  ].filter((code) => code !== null);
  return [
    ...problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem),
    ...refusals.map((code) => `a change of it was answered ${code}`),
  ];
}

/** The code of a final refusal; null where it is none, or right. */
const refusalOf = (end: AttemptEnd, isTooLate: boolean) =>
  end.kind === 'answered' &&
  end.code !== GRANTED &&
  !RETRYABLE.has(end.code) &&
  !(isTooLate && end.code === TOO_LATE)
    ? end.code
    : null;

const passReferenceOf = (end: AttemptEnd) =>
  end.kind === 'answered' && end.code === GRANTED ? end.passReference : null;

/** Whether the attempt may have been registered without the partner knowing. */
export function isUnknown(end: AttemptEnd, tolerance: Tolerance): boolean {
  if (end.kind === 'answered') return end.code === UNKNOWN;
  return end.kind !== 'refused' && (tolerance.mayFail || !keptUp(end, tolerance));
}

function nobodysRegistration({ requestId, passReference }: StoredRegistration): Violation {
  return { kind: 'wrong', problem: `${passReference} is stored for ${requestId}, which nobody asked for` };
}

function checkLookup({ what, end }: History['lookups'][number]): Violation[] {
  if (end.kind !== 'answered' || end.status === 200 || end.status === 503) return [];
  return [{ kind: 'lost', problem: `${what} was there, and then answered ${end.code}` }];
}

/** Of a group all are stored, or none. Of a basket all are confirmed, or none, except those that were given back. */
function checkGroups({ requests }: History, rows: Map<string, StoredRegistration[]>): Violation[] {
  const groups = Map.groupBy(
    requests.filter(({ group }) => group !== null),
    ({ group }) => group,
  );
  const isKept = ({ id }: RequestRecord) =>
    rows.get(id)?.some((row) => row.isReplaced || !(row.isHeld || row.isCancelled)) ?? false;
  return [...groups.values()].flatMap((members) => [
    ...checkPart('stored', members, ({ id }) => rows.has(id)),
    ...checkPart(
      'confirmed',
      members.filter((one) => one.isInBasket && one.cancellations.length + one.releases.length === 0),
      isKept,
    ),
  ]);
}

function checkPart(
  what: string,
  members: RequestRecord[],
  isPart: (member: RequestRecord) => boolean,
): Violation[] {
  const { length } = members.filter(isPart);
  if (length === 0 || length === members.length) return [];
  const problem = `${length} of a group of ${members.length} are ${what}`;
  return [{ kind: 'wrong', problem, request: members[0]! }];
}

/**
 * A ticket that was ever sold out has to be full, unless seats of it were given back. To a group it may be
 * said of seats that others of the group would have had.
 */
function checkTickets(
  { requests, waiting }: History,
  { registrations, offered, tickets, allocations }: Stored,
): Violation[] {
  const soldOut = new Set(
    requests
      .filter(
        ({ group, attempts }) =>
          group === null && attempts.some(({ end }) => end.kind === 'answered' && end.code === SOLD_OUT),
      )
      .map(({ ticketId }) => ticketId),
  );
  // Of a ticket with allocations, a partner may not have all seats that are left. Nor of one with a waiting list.
  const mayHaveSeats = new Set(
    [
      ...requests.filter(({ isHeld, cancellations }) => isHeld || cancellations.length > 0),
      ...allocations,
      ...waiting,
    ].map(({ ticketId }) => ticketId),
  );
  const seats = Map.groupBy(
    [...registrations, ...offered].filter(({ isCancelled }) => !isCancelled),
    ({ ticketId }) => ticketId,
  );
  return tickets.flatMap(({ id, capacity, taken }): Violation[] => {
    const held = seats.get(id)?.length ?? 0;
    if (held > capacity)
      return [{ kind: 'oversold', problem: `ticket ${id} has ${held} of ${capacity} seats` }];
    if (held !== taken)
      return [{ kind: 'wrong', problem: `ticket ${id} counts ${taken} seats, holds ${held}` }];
    if (soldOut.has(id) && !mayHaveSeats.has(id) && taken < capacity)
      return [
        { kind: 'wrong', problem: `ticket ${id} was called sold out with ${taken} of ${capacity} taken` },
      ];
    return [];
  });
}
