import { expect, test } from 'vitest';
import { launchStateAt, type LaunchTicket } from './launch.ts';

const ticket = (differing: Partial<LaunchTicket> = {}): LaunchTicket => ({
  seatsLeft: 10,
  startsAt: null,
  endsAt: null,
  ...differing,
});

test.each<[string, LaunchTicket[], string]>([
  ['no ticket', [], 'closed'],
  ['a ticket that is always on sale', [ticket()], 'open'],
  ['the moment of the opening', [ticket({ startsAt: 100 })], 'open'],
  ['the moment before', [ticket({ startsAt: 101 })], 'scheduled'],
  ['the moment of the end', [ticket({ endsAt: 100 })], 'closed'],
  ['the moment before', [ticket({ endsAt: 101 })], 'open'],
  ['no seat', [ticket({ seatsLeft: 0 })], 'soldOut'],
  ['no seat, and another with some', [ticket({ seatsLeft: 0 }), ticket()], 'open'],
  ['no seat, and another that is to come', [ticket({ seatsLeft: 0 }), ticket({ startsAt: 101 })], 'soldOut'],
  ['one that is over, and one to come', [ticket({ endsAt: 50 }), ticket({ startsAt: 101 })], 'scheduled'],
  ['one that is to come without a seat', [ticket({ seatsLeft: 0, startsAt: 101 })], 'scheduled'],
])('%s: %#', (_what, tickets, phase) => {
  expect(launchStateAt(tickets, 100).phase).toBe(phase);
});

test('it opens with the first, closes with the last, and counts the seats of those that are not over', () => {
  const tickets = [
    ticket({ startsAt: 10, endsAt: 50 }),
    ticket({ startsAt: 20, endsAt: 200 }),
    ticket({ startsAt: 150, endsAt: 180 }),
  ];
  expect(launchStateAt(tickets, 100)).toEqual({ phase: 'open', opensAt: 10, closesAt: 200, seatsLeft: 20 });
});

test('without a border on one of them there is none', () => {
  const tickets = [ticket({ startsAt: 10, endsAt: 50 }), ticket()];
  expect(launchStateAt(tickets, 0)).toMatchObject({ opensAt: null, closesAt: null });
});
