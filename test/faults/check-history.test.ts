import { expect, test } from 'vitest';
import { checkHistory, countExcused, type Tolerance, type Violation } from './check-history.ts';
import {
  newHistory,
  newRequest,
  type AttemptEnd,
  type History,
  type RequestRecord,
  type Stored,
  type StoredRegistration,
} from './history.ts';

const STRICT: Tolerance = { mayTimeOut: false, mayFail: true };

const answered = (code: string, passReference: string | null = null): AttemptEnd => ({
  kind: 'answered',
  status: code === '00' ? 200 : 503,
  code,
  passReference,
});
const cut: AttemptEnd = { kind: 'cut' };

const request = (...ends: AttemptEnd[]): RequestRecord =>
  newRequest({
    id: 'a',
    event: 0,
    ticketId: 1,
    isKeyed: true,
    attempts: ends.map((end) => ({ api: 0, sentAt: 0, endedAt: 1, end })),
  });

/** Granted, and then asked to be cancelled. */
const cancelled = (...ends: AttemptEnd[]): RequestRecord => ({
  ...request(answered('00', 'P-1')),
  cancellations: ends,
});

const row = (differing: Partial<StoredRegistration> = {}): StoredRegistration => ({
  requestId: 'a',
  ticketId: 1,
  passReference: 'P-1',
  state: 'confirmed',
  isCancelled: false,
  isHeld: false,
  isReplaced: false,
  address: `${differing.requestId ?? 'a'}@example.com`,
  changes: [differing.state ?? 'confirmed'],
  ...differing,
});

/** Granted for a while, and then asked to be confirmed. */
const held = (...ends: AttemptEnd[]): RequestRecord => ({
  ...request(answered('00', 'P-1')),
  isHeld: true,
  confirmations: ends,
});

/** A seat of a basket. */
const seat = (differing: Partial<RequestRecord> = {}): RequestRecord => ({
  ...held(),
  group: 'basket',
  isInBasket: true,
  ...differing,
});
const contact = 'basket@example.com';

/** A registration, and those that are to get its seat. */
const replaced = (...ends: AttemptEnd[]): RequestRecord[] => {
  const old = request(answered('00', 'P-1'));
  return [old, ...ends.map((end, index) => ({ ...request(end), id: 'bc'[index]!, replaces: old }))];
};
const replacedRow = () => row({ isCancelled: true, isReplaced: true, changes: ['confirmed', 'cancelled'] });
const successorRow = () => row({ requestId: 'b', passReference: 'P-2' });

const heldRow = () => row({ isHeld: true, changes: [] });
const cancelledRow = (...changes: string[]) => row({ isCancelled: true, changes });

function check(
  requests: RequestRecord[],
  registrations: StoredRegistration[],
  more: {
    tolerance?: Tolerance;
    capacity?: number;
    taken?: number;
    lookups?: History['lookups'];
    allocations?: Stored['allocations'];
  } = {},
): Violation['kind'][] {
  const {
    tolerance = STRICT,
    capacity = 10,
    taken = registrations.filter(({ isCancelled }) => !isCancelled).length,
    lookups = [],
    allocations = [],
  } = more;
  const stored: Stored = {
    registrations,
    entries: [],
    offered: [],
    tickets: [{ id: 1, capacity, taken }],
    allocations,
  };
  return checkHistory({ ...newHistory(), requests, lookups }, stored, tolerance).map(({ kind }) => kind);
}

test.each<[string, RequestRecord[], StoredRegistration[]]>([
  ['granted and stored', [request(answered('00', 'P-1'))], [row()]],
  ['granted again with the same reference', [request(answered('00', 'P-1'), answered('00', 'P-1'))], [row()]],
  ['refused for now, then granted', [request(answered('90'), answered('00', 'P-1'))], [row()]],
  ['cut and stored', [request(cut)], [row()]],
  ['cut and not stored', [request(cut)], []],
  ['unknown and stored', [request(answered('91'))], [row()]],
  ['never sent', [request({ kind: 'refused' })], []],
  ['cancelled', [cancelled(answered('00'))], [cancelledRow('confirmed', 'cancelled')]],
  ['cancelled before it was confirmed', [cancelled(answered('00'))], [cancelledRow('cancelled')]],
  ['cut, and cancelled', [cancelled(cut)], [cancelledRow('cancelled')]],
  ['cut, and not cancelled', [cancelled(cut)], [row()]],
  ['held', [held()], [heldRow()]],
  ['held, and over', [held(answered('35'))], [cancelledRow('cancelled')]],
  ['held, and kept', [held(answered('00'))], [row()]],
  ['cut, and kept', [held(cut)], [row()]],
  ['cut, and over', [held(cut)], [cancelledRow('cancelled')]],
  ['a basket, abandoned', [seat()], [row({ isHeld: true, changes: [], address: null })]],
  ['a basket, over', [seat({ confirmations: [answered('35')] })], [cancelledRow('cancelled')]],
  ['a basket, confirmed', [seat({ confirmations: [answered('00')] })], [row({ address: contact })]],
  [
    'a basket, confirmed, and too late to release',
    [seat({ confirmations: [answered('00')], releases: [answered('35')] })],
    [row()],
  ],
  ['a basket, released', [seat({ releases: [answered('00')] })], [cancelledRow('cancelled')]],
  ['replaced', replaced(answered('00', 'P-2')), [replacedRow(), successorRow()]],
  [
    'replaced by one of two',
    replaced(answered('00', 'P-2'), answered('35')),
    [replacedRow(), successorRow()],
  ],
  ['cut, and replaced', replaced(cut), [replacedRow(), successorRow()]],
  ['cut, and not replaced', replaced(cut), [row()]],
  ['given up, visibly', [request(answered('00', 'P-1'))], [row({ state: 'failed' })]],
])('%s: nothing to complain about', (_what, requests, rows) => {
  expect(check(requests, rows)).toEqual([]);
});

test.each<[string, Violation['kind'], RequestRecord[], StoredRegistration[]]>([
  ['a granted registration that is not stored', 'lost', [request(answered('00', 'P-1'))], []],
  ['two rows for one request', 'doubled', [request(answered('00', 'P-1'))], [row(), row()]],
  ['two references for one key', 'doubled', [request(answered('00', 'P-1'), answered('00', 'P-2'))], [row()]],
  ['another reference than the stored one', 'wrong', [request(answered('00', 'P-2'))], [row()]],
  ['cancelled, and still there', 'wrong', [cancelled(answered('00'))], [row()]],
  ['not cancelled, and gone', 'wrong', [cancelled(answered('90'))], [cancelledRow('cancelled')]],
  ['never cancelled, and gone', 'wrong', [cancelled()], [cancelledRow('cancelled')]],
  ['nothing to cancel', 'wrong', [cancelled(answered('34'))], [row()]],
  ['told of twice', 'wrong', [cancelled(answered('00'))], [cancelledRow('cancelled', 'cancelled')]],
  [
    'confirmed after it was cancelled',
    'wrong',
    [cancelled(answered('00'))],
    [cancelledRow('cancelled', 'confirmed')],
  ],
  ['never told of', 'wrong', [request(answered('00', 'P-1'))], [row({ changes: [] })]],
  ['kept, and over', 'wrong', [held(answered('00'))], [cancelledRow('cancelled')]],
  ['kept, and still held', 'wrong', [held(answered('00'))], [heldRow()]],
  ['kept, and nobody asked', 'wrong', [held()], [row()]],
  ['too late, and kept', 'wrong', [held(answered('35'))], [row()]],
  ['held, and told of', 'wrong', [held()], [row({ isHeld: true })]],
  ['an abandoned basket that is kept', 'wrong', [seat()], [row()]],
  ['a released seat that is kept', 'wrong', [seat({ releases: [answered('00')] })], [row()]],
  [
    'a seat that was confirmed, and then released',
    'wrong',
    [seat({ confirmations: [answered('00')], releases: [answered('00')] })],
    [cancelledRow('cancelled')],
  ],
  [
    'too late to release, and not confirmed',
    'wrong',
    [seat({ releases: [answered('35')] })],
    [cancelledRow('cancelled')],
  ],
  [
    'a confirmed seat without an attendee',
    'wrong',
    [seat({ confirmations: [cut] })],
    [row({ address: null })],
  ],
  ['an extension that fails', 'wrong', [seat({ extensions: [answered('34')] })], [heldRow()]],
  ['another attendee', 'wrong', [request(answered('00', 'P-1'))], [row({ address: contact })]],
  ['replaced, and still there', 'wrong', replaced(answered('00', 'P-2')), [row(), successorRow()]],
  ['replaced by nobody', 'lost', replaced(cut), [replacedRow()]],
  ['too late to replace, and there', 'wrong', replaced(answered('35')), [row()]],
  [
    'replaced by two',
    'doubled',
    replaced(answered('00', 'P-2'), answered('00', 'P-3')),
    [replacedRow(), successorRow(), row({ requestId: 'c', passReference: 'P-3' })],
  ],
  ['a row on another ticket', 'wrong', [request(cut)], [row({ ticketId: 2 })]],
  ['a row after "nothing was reserved"', 'wrong', [request(answered('90'))], [row()]],
  ['a row though nothing was sent', 'wrong', [request({ kind: 'refused' })], [row()]],
  ['a row that nobody asked for', 'wrong', [], [row()]],
  ['a row that is still reserved', 'stuck', [request(answered('00', 'P-1'))], [row({ state: 'pending' })]],
  ['no answer in time', 'stuck', [request({ kind: 'timed-out' })], []],
  ['an unexpected error', 'wrong', [request(answered('99'))], []],
])('finds %s', (_what, kind, requests, rows) => {
  expect(check(requests, rows)).toContain(kind);
});

const members = (...ends: AttemptEnd[]) =>
  ends.map((end, index) => ({ ...request(end), id: 'ab'[index]!, group: 'a' }));

test('a group that is stored whole, or not at all: nothing to complain about', () => {
  const rows = [row(), row({ requestId: 'b', passReference: 'P-2' })];
  expect(check(members(answered('00', 'P-1'), answered('00', 'P-2')), rows)).toEqual([]);
  // Sold out: for the group as a whole.
  expect(check(members(answered('32'), answered('36')), [])).toEqual([]);
});

test('finds a group of which a part is stored', () => {
  expect(check(members(cut, cut), [row()])).toEqual(['wrong']);
});

test('finds a basket of which a part is confirmed', () => {
  const seats = ['a', 'b'].map((id) => ({ ...seat({ id, confirmations: [cut] }), attempts: [] }));
  const rows = [row(), row({ requestId: 'b', isHeld: true, changes: [] })];
  const problems = checkHistory(
    { ...newHistory(), requests: seats },
    { registrations: rows, entries: [], offered: [], tickets: [], allocations: [] },
    STRICT,
  ).map(({ problem }) => problem);
  expect(problems).toContain('1 of a group of 2 are confirmed');
});

test('finds a partner that has more seats than its cap', () => {
  expect(check([], [], { allocations: [{ ticketId: 1, cap: 2, seats: 2 }] })).toEqual([]);
  expect(check([], [], { allocations: [{ ticketId: 1, cap: 2, seats: 3 }] })).toEqual(['oversold']);
});

test('finds more seats sold than there are', () => {
  const sold = [request(answered('00', 'P-1'))];
  expect(check(sold, [row()], { capacity: 0 })).toEqual(['oversold']);
});

test('finds a count that does not match the seats', () => {
  expect(check([request(cut)], [row()], { taken: 2 })).toEqual(['wrong']);
});

test('finds "sold out" while seats were left, and a refusal beside a grant', () => {
  expect(check([request(answered('32'))], [])).toEqual(['wrong']);
  const both = request(answered('32'), answered('00', 'P-1'));
  expect(check([both], [row()], { capacity: 1 })).toEqual(['wrong']);
});

test('finds a granted registration that a partner cannot see', () => {
  const lookups = [{ what: 'P-1', end: { ...answered('34'), status: 404 } as AttemptEnd }];
  expect(check([request(answered('00', 'P-1'))], [row()], { lookups })).toEqual(['lost']);
});

test('in a rolling restart, nothing fails that was read', () => {
  const tolerance = { mayTimeOut: false, mayFail: false };
  expect(check([request(cut)], [], { tolerance })).toEqual([]);
  expect(check([request(cut)], [row()], { tolerance })).toEqual(['wrong']);
  expect(check([request(answered('90'))], [], { tolerance })).toEqual(['wrong']);
});

test('a partner may wait in vain only where nobody can answer', () => {
  const tolerance = { mayTimeOut: true, mayFail: true };
  expect(check([request({ kind: 'timed-out' })], [], { tolerance })).toEqual([]);
});

test('a failure while the machine stood still is excused, and a loss is not', () => {
  const during = { api: 0, from: 0, to: 100 };
  const busy = { ...answered('90'), during };
  const late: AttemptEnd = { kind: 'timed-out', during };
  const strict: Tolerance = { mayTimeOut: false, mayFail: false };
  const tolerance = { ...strict, keptUp: () => false };
  expect(check([request(busy, late)], [], { tolerance: strict })).toEqual(['stuck', 'wrong']);
  expect(check([request(busy, late)], [], { tolerance })).toEqual([]);
  // A request that was given up may have been registered.
  expect(check([request(late)], [row()], { tolerance })).toEqual([]);
  expect(check([request(busy, answered('00', 'P-1'))], [], { tolerance })).toEqual(['lost']);
  expect(countExcused({ ...newHistory(), requests: [request(busy, late)] }, tolerance)).toBe(2);
});
