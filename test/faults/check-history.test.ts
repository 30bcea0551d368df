import { expect, test } from 'vitest';
import { checkHistory, type Tolerance, type Violation } from './check-history.ts';
import type { AttemptEnd, History, RequestRecord, Stored, StoredRegistration } from './history.ts';

const STRICT: Tolerance = { mayTimeOut: false, mayFail: true };

const answered = (code: string, passReference: string | null = null): AttemptEnd => ({
  kind: 'answered',
  status: code === '00' ? 200 : 503,
  code,
  passReference,
});
const cut: AttemptEnd = { kind: 'cut' };

const request = (...ends: AttemptEnd[]): RequestRecord => ({
  id: 'a',
  event: 0,
  ticketId: 1,
  isKeyed: true,
  group: null,
  attempts: ends.map((end) => ({ api: 0, sentAt: 0, endedAt: 1, end })),
  isHeld: false,
  confirmations: [],
  cancellations: [],
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
  changes: [differing.state ?? 'confirmed'],
  ...differing,
});

/** Granted for a while, and then asked to be confirmed. */
const held = (...ends: AttemptEnd[]): RequestRecord => ({
  ...request(answered('00', 'P-1')),
  isHeld: true,
  confirmations: ends,
});

const heldRow = () => row({ isHeld: true, changes: [] });
const cancelledRow = (...changes: string[]) => row({ isCancelled: true, changes });

function check(
  requests: RequestRecord[],
  registrations: StoredRegistration[],
  more: { tolerance?: Tolerance; capacity?: number; taken?: number; lookups?: History['lookups'] } = {},
): Violation['kind'][] {
  const {
    tolerance = STRICT,
    capacity = 10,
    taken = registrations.filter(({ isCancelled }) => !isCancelled).length,
    lookups = [],
  } = more;
  const stored: Stored = { registrations, tickets: [{ id: 1, capacity, taken }] };
  return checkHistory({ requests, lookups }, stored, tolerance).map(({ kind }) => kind);
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
