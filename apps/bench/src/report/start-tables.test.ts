import { expect, test } from 'vitest';
import type { Start } from '../results.ts';
import { startTables } from './start-tables.ts';

const start = (flags: string, round: number, differing: Partial<Start> = {}): Start => ({
  flags,
  round,
  freedShare: { median: 0.98, worst: 0.95 },
  scavenges: 40,
  scavengeMs: 2.5,
  markCompacts: 1,
  apiCpuMicros: 100,
  perSecond: 10_000,
  p99Ms: 20,
  apiMiB: 120,
  ...differing,
});
const ill = { freedShare: { median: 0.98, worst: 0.6 }, perSecond: 5_000 };

test('flags are compared with the neighbour without them, and each start is judged by its worst scavenge', () => {
  const [variants, every] = startTables([
    start('', 1, ill),
    start('--a', 1),
    start('--a', 2, { perSecond: 9_000 }),
    start('', 2),
  ]);
  expect(variants!.rows.map((row) => row.slice(0, 4))).toEqual([
    ['as they are', '1 of 2', '7,500 (5,000–10,000)', '–'],
    ['--a', '2 of 2', '9,500 (9,000–10,000)', '1.45 (0.90–2.00)'],
  ]);
  expect(every!.rows.map((row) => row.at(-1))).toEqual(['no', 'yes', 'yes', 'yes']);
});
