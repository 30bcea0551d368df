import { expect, test } from 'vitest';
import { findFault } from './books.ts';

const balanced = { registered: 100, pending: 0, wrongTickets: 0 };
const hot = { books: 'stored' } as const;

test('a run counts where every registration was accepted, stored and finalized', () => {
  expect(findFault({ answers: { '200': 100 } }, hot, balanced, 100)).toBeUndefined();
  // A ceiling stores nothing, a mix has other requests than registrations, and a bulk call has several of
  // them.
  expect(findFault({ answers: { '200': 100 } }, hot, undefined, 0)).toBeUndefined();
  expect(
    findFault({ answers: { '200': 1_000 } }, { books: 'not only registrations' }, balanced, 100),
  ).toBeUndefined();
  expect(findFault({ answers: { '200': 2 } }, { ...hot, size: 50 }, balanced, 100)).toBeUndefined();
  const sellOut = { books: 'stored or sold out' } as const;
  expect(findFault({ answers: { '200': 100, '409': 50 } }, sellOut, balanced, 100)).toBeUndefined();
});

test.each([
  ['lost', balanced, { '200': 100 }, 99, '100 were accepted, but 99 are stored'],
  ['doubled', balanced, { '200': 100 }, 101, 'but 101 are stored'],
  ['not finalized', { ...balanced, pending: 1 }, { '200': 100 }, 100, '1 registrations were not finalized'],
  ['oversold', { ...balanced, wrongTickets: 1 }, { '200': 100 }, 100, '1 tickets oversold'],
  ['refused', balanced, { '200': 100, '503': 3 }, 100, '3 requests failed'],
  ['sold out where it cannot be', balanced, { '200': 100, '409': 3 }, 100, '3 requests failed'],
  ['refused by a ceiling', undefined, { '200': 100, cut: 1 }, 0, '1 requests failed'],
])('a run is discarded: %s', (_, books, answers, registered, reason) => {
  expect(findFault({ answers }, hot, books, registered)).toContain(reason);
});
