import { expect, test } from 'vitest';
import { createBodyRoom } from './body-room.ts';

const MEBIBYTE = 1024 * 1024;

/** Reserves memory for bodies of a mebibyte until a partner gets none. Returns the functions that release it. */
function fill(enter: ReturnType<typeof createBodyRoom>, partnerId: number): (() => void)[] {
  const held: (() => void)[] = [];
  for (let leave = enter(partnerId, MEBIBYTE); leave; leave = enter(partnerId, MEBIBYTE)) held.push(leave);
  return held;
}

test('a partner holds at most its limit, and released memory counts once', () => {
  const enter = createBodyRoom();
  const held = fill(enter, 1);
  expect(held).toHaveLength(16);
  held[0]!();
  held[0]!();
  expect(fill(enter, 1)).toHaveLength(1);
});

test('partners together are limited, and each partner without a body can reserve one', () => {
  const enter = createBodyRoom();
  const counts = Array.from({ length: 200 }, (_, partnerId) => fill(enter, partnerId).length);
  expect(counts.slice(0, 5)).toEqual([16, 16, 16, 16, 1]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(128);
});

test('all memory is free again when all bodies are released', () => {
  const enter = createBodyRoom();
  for (const round of [1, 2, 3]) {
    const held = fill(enter, round);
    expect(held).toHaveLength(16);
    for (const leave of held) leave();
  }
  expect([1, 2, 3, 4].map((partnerId) => fill(enter, partnerId).length)).toEqual([16, 16, 16, 16]);
});
