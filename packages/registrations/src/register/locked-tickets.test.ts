import { createLogger } from '@floodgate/service';
import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { createLockedTickets, type LockedTickets } from './locked-tickets.ts';

const ticket = { ticketId: 1, eventId: 1001 };
let clock: ManualClock;
let lines: string[];
let locked: LockedTickets;

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  const destination = { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) };
  locked = createLockedTickets(createLogger('test', 'info', destination), clock);
});

/** Returns for how long the breaker stays open from now on. */
function refusedForMs(): number {
  let ms = 0;
  for (; locked.has(ticket); ms += 100) clock.block(100);
  return ms;
}

test('the buyers of a locked ticket are refused for a while, and those of others are not', () => {
  locked.lock([ticket]);
  expect(locked.has(ticket)).toBe(true);
  expect(locked.has({ ticketId: 2, eventId: 1001 })).toBe(false);
  expect(locked.has({ ticketId: 1, eventId: 1002 })).toBe(false);
  expect(refusedForMs()).toBe(500);
});

test('each time that it is still locked they are refused for longer, but never for more than 5 s', () => {
  const times = Array.from({ length: 6 }, () => {
    locked.lock([ticket]);
    return refusedForMs();
  });
  expect(times).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(lines).toHaveLength(1);
});

test('a ticket that was sold from is free, and its cool-down starts again when it is locked again', () => {
  locked.lock([ticket]);
  locked.lock([ticket]);
  locked.release([{ ticketId: 1, eventId: 1002 }]);
  expect(locked.has(ticket)).toBe(true);
  locked.release([ticket]);
  expect(locked.has(ticket)).toBe(false);
  locked.lock([ticket]);
  expect(refusedForMs()).toBe(500);
  expect(lines.map((line) => line.split(';')[0])).toEqual([
    'another transaction keeps a ticket locked',
    'a locked ticket is free again',
    'another transaction keeps a ticket locked',
  ]);
});
