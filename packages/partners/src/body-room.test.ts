import { expect, test } from 'vitest';
import { createBodyRoom } from './limits.ts';

const MEBIBYTE = 1024 * 1024;

/** Reserves room for bodies of a mebibyte until a partner gets none. Returns what gives each of them back. */
function fill(enter: ReturnType<typeof createBodyRoom>, partnerId: number): (() => void)[] {
  const held: (() => void)[] = [];
  for (let leave = enter(partnerId, MEBIBYTE); leave; leave = enter(partnerId, MEBIBYTE)) held.push(leave);
  return held;
}

test('a partner holds at most its part, and gets room again for what it gives back, once', () => {
  const enter = createBodyRoom();
  const held = fill(enter, 1);
  expect(held).toHaveLength(16);
  held[0]!();
  held[0]!();
  expect(fill(enter, 1)).toHaveLength(1);
});

test('partners together hold a bounded share, and each that holds nothing gets room for one body', () => {
  const enter = createBodyRoom();
  const counts = Array.from({ length: 200 }, (_, partnerId) => fill(enter, partnerId).length);
  expect(counts.slice(0, 5)).toEqual([16, 16, 16, 16, 1]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(128);
});

test('all room is free again when all bodies have left', () => {
  const enter = createBodyRoom();
  for (const round of [1, 2, 3]) {
    const held = fill(enter, round);
    expect(held).toHaveLength(16);
    for (const leave of held) leave();
  }
  expect([1, 2, 3, 4].map((partnerId) => fill(enter, partnerId).length)).toEqual([16, 16, 16, 16]);
});
