import { expect, test } from 'vitest';
import type { EventOnSale } from './events-on-sale.ts';
import type { AttemptEnd, StoredEntry, WaitingRecord } from './history.ts';
import { checkWaiting } from './waiting-list.ts';

const answered = (code: string): AttemptEnd => ({ kind: 'answered', status: 200, code, passReference: null });
const [OK, cut]: AttemptEnd[] = [answered('00'), { kind: 'cut' }];

const record = (differing: Partial<WaitingRecord> = {}): WaitingRecord => ({
  id: 'a',
  event: 0,
  ticketId: 1,
  seats: 2,
  joins: [OK!],
  entries: new Set(['E-1']),
  states: [],
  confirmations: [],
  leaves: [],
  ...differing,
});
const row = (differing: Partial<StoredEntry> = {}): StoredEntry => ({
  requestId: 'a',
  reference: 'E-1',
  serial: 1,
  ticketId: 1,
  seats: 2,
  state: 'waiting',
  wasOffered: false,
  ...differing,
});
const check = (one: WaitingRecord, rows: StoredEntry[], mayFail = true) =>
  checkWaiting([one], rows, [{ isTest: false, listCapacity: 4 } as EventOnSale], {
    mayTimeOut: false,
    mayFail,
  }).map(({ kind }) => kind);

test.each<[string, WaitingRecord, StoredEntry[]]>([
  ['joined', record(), [row()]],
  ['not sold out', record({ joins: [answered('38')], entries: new Set() }), []],
  ['cut and stored', record({ joins: [cut!], entries: new Set() }), [row()]],
  ['cut and not stored', record({ joins: [cut!], entries: new Set() }), []],
  [
    'confirmed',
    record({ confirmations: [OK!], states: ['waiting', 'offered'] }),
    [row({ state: 'confirmed' })],
  ],
  [
    'confirmed, and too late to leave',
    record({ confirmations: [OK!], leaves: [answered('35')] }),
    [row({ state: 'confirmed' })],
  ],
  [
    'left, and too late to confirm',
    record({ confirmations: [answered('35')], leaves: [OK!] }),
    [row({ state: 'left' })],
  ],
  ['expired', record({ states: ['offered'] }), [row({ state: 'expired' })]],
])('right: %s', (_name, one, rows) => {
  expect(check(one, rows)).toEqual([]);
});

test.each<[string, string, WaitingRecord, StoredEntry[]]>([
  ['lost', 'joined and not stored', record(), []],
  ['doubled', 'stored twice', record(), [row(), row({ reference: 'E-2' })]],
  ['wrong', 'refused and stored', record({ joins: [answered('38')], entries: new Set() }), [row()]],
  ['wrong', 'with fewer seats', record(), [row({ seats: 1 })]],
  ['lost', 'confirmed, and expired', record({ confirmations: [OK!] }), [row({ state: 'expired' })]],
  ['wrong', 'confirmed by nobody', record(), [row({ state: 'confirmed' })]],
  ['wrong', 'left by nobody', record(), [row({ state: 'left' })]],
  ['wrong', 'left, and offered', record({ leaves: [OK!] }), [row({ state: 'offered' })]],
  ['wrong', 'offered, and then waiting again', record({ states: ['offered'] }), [row()]],
  [
    'wrong',
    'too late to confirm an open offer',
    record({ confirmations: [answered('35')] }),
    [row({ state: 'offered' })],
  ],
  ['wrong', 'answered with an unknown code', record({ joins: [answered('39'), OK!] }), [row()]],
])('%s: %s', (kind, _name, one, rows) => {
  expect(check(one, rows)).toContain(kind);
});

test('an entry that nobody wanted is found, and a failure while nothing may fail', () => {
  expect(check(record(), [row(), row({ requestId: 'b' })])).toEqual(['wrong']);
  expect(check(record({ joins: [answered('90'), OK!] }), [row()], false)).toEqual(['wrong']);
});

const joinedAt = (from: number, code: string): AttemptEnd[] => [
  { ...answered(code), during: { api: 0, from, to: from + 10 } },
];

test.each<[string, number, string[]]>([
  ['right: the entries joined before want too many seats', 0, []],
  ['wrong: they were joined after the refusal', 200, ['wrong']],
])('answered 37, %s', (_name, joined, expected) => {
  const others = ['b', 'c'].map((id) =>
    record({ id, seats: 2, entries: new Set([`E-${id}`]), joins: joinedAt(joined, '00') }),
  );
  const refused = record({ entries: new Set(), joins: joinedAt(100, '37') });
  const rows = others.map(({ id }) => row({ requestId: id, reference: `E-${id}` }));
  const violations = checkWaiting(
    [...others, refused],
    rows,
    [{ isTest: false, listCapacity: 4 } as EventOnSale],
    { mayTimeOut: false, mayFail: false },
  );
  expect(violations.map(({ kind }) => kind)).toEqual(expected);
});
