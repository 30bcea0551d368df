import { expect, test } from 'vitest';
import { findFault } from './measure.ts';

const balanced = { registered: 100, pending: 0, wrongTickets: 0 };
const answered = (answers: Record<string, number>) => ({ answers });
const hot = { answers: 'registered' } as const;

test('a run counts where every registration was accepted, stored and finalized', () => {
  expect(findFault(balanced, answered({ '200': 100 }), hot, true)).toBeUndefined();
  // A ceiling stores nothing, and a mix has other requests than registrations.
  expect(findFault(undefined, answered({ '200': 100 }), hot, true)).toBeUndefined();
  const mix = { answers: 'not only registrations' } as const;
  expect(findFault(balanced, answered({ '200': 1_000 }), mix, true)).toBeUndefined();
});

test.each([
  ['lost', { ...balanced, registered: 99 }, { '200': 100 }, true, '100 were accepted, but 99 are stored'],
  ['doubled', { ...balanced, registered: 101 }, { '200': 100 }, true, 'but 101 are stored'],
  ['given up', { ...balanced, pending: 1 }, { '200': 100 }, true, '1 registrations were not finalized'],
  ['not finalized in time', { ...balanced, pending: 2 }, { '200': 100 }, false, '2 registrations'],
  ['oversold', { ...balanced, wrongTickets: 1 }, { '200': 100 }, true, '1 tickets oversold'],
  ['refused', balanced, { '200': 100, '503': 3 }, true, '3 requests failed'],
  ['sold out where it cannot be', balanced, { '200': 100, '409': 3 }, true, '3 requests failed'],
  ['refused by a ceiling', undefined, { '200': 100, cut: 1 }, true, '1 requests failed'],
])('a run is thrown away: %s', (_, books, answers, isFinalized, reason) => {
  expect(findFault(books, answered(answers as never), hot, isFinalized)).toContain(reason);
});

test('where a ticket may be sold out, that answer is foreseen', () => {
  const sellOut = { answers: 'may be sold out' } as const;
  expect(findFault(balanced, answered({ '200': 100, '409': 50 }), sellOut, true)).toBeUndefined();
});
