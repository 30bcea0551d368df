import { expect, test } from 'vitest';
import { isAvailable, launchStateAt, type TicketOnSale } from './launch.ts';

/** A moment, in milliseconds. */
const at = (moment: number) => new Date(moment);

const ticket = ({
  seatsLeft = 10,
  startsAt,
  endsAt,
}: Partial<Record<'seatsLeft' | 'startsAt' | 'endsAt', number>> = {}): TicketOnSale => ({
  capacity: seatsLeft + 5,
  taken: 5,
  saleStartsAt: startsAt === undefined ? null : at(startsAt),
  saleEndsAt: endsAt === undefined ? null : at(endsAt),
});

test.each<[string, TicketOnSale[], string]>([
  ['no ticket', [], 'closed'],
  ['a ticket that is always on sale', [ticket()], 'open'],
  ['the moment of the opening', [ticket({ startsAt: 100 })], 'open'],
  ['the moment before', [ticket({ startsAt: 101 })], 'scheduled'],
  ['the moment of the end', [ticket({ endsAt: 100 })], 'closed'],
  ['the moment before', [ticket({ endsAt: 101 })], 'open'],
  ['no seat', [ticket({ seatsLeft: 0 })], 'soldOut'],
  ['no seat, and another with some', [ticket({ seatsLeft: 0 }), ticket()], 'open'],
  [
    'no seat, and another that is scheduled',
    [ticket({ seatsLeft: 0 }), ticket({ startsAt: 101 })],
    'soldOut',
  ],
  [
    'one that has ended, and one that is scheduled',
    [ticket({ endsAt: 50 }), ticket({ startsAt: 101 })],
    'scheduled',
  ],
  ['a scheduled one without a seat', [ticket({ seatsLeft: 0, startsAt: 101 })], 'scheduled'],
])('%s: %#', (_what, tickets, phase) => {
  expect(launchStateAt(tickets, at(100)).phase).toBe(phase);
});

test('a sale opens with the first ticket, closes with the last, and counts the seats of tickets that have not ended', () => {
  const tickets = [
    ticket({ startsAt: 10, endsAt: 50 }),
    ticket({ startsAt: 20, endsAt: 200 }),
    ticket({ startsAt: 150, endsAt: 180 }),
  ];
  expect(launchStateAt(tickets, at(100))).toEqual({
    phase: 'open',
    opensAt: at(10),
    closesAt: at(200),
    seatsLeft: 20,
  });
});

test('if one ticket has no start or end, the sale has none', () => {
  const tickets = [ticket({ startsAt: 10, endsAt: 50 }), ticket()];
  expect(launchStateAt(tickets, at(0))).toMatchObject({ opensAt: null, closesAt: null });
});

test('a ticket is available from its start until its end, while it has seats', () => {
  const limited = ticket({ startsAt: 10, endsAt: 50 });
  expect([9, 10, 49, 50].map((moment) => isAvailable(limited, at(moment)))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([ticket(), ticket({ seatsLeft: 0 })].map((one) => isAvailable(one, at(0)))).toEqual([true, false]);
});
