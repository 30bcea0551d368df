import { expect, test } from 'vitest';
import { createBodyMemory, type ReserveMemory } from './body-memory.ts';

const MEBIBYTE = 1024 * 1024;

/** Reserves memory for bodies of a mebibyte until a partner gets none. Returns the functions that release it. */
function fill(reserve: ReserveMemory, partnerId: number): (() => void)[] {
  const held: (() => void)[] = [];
  for (let release = reserve(partnerId, MEBIBYTE); release; release = reserve(partnerId, MEBIBYTE))
    held.push(release);
  return held;
}

test('a partner holds at most its limit, and released memory counts once', () => {
  const reserve = createBodyMemory();
  const held = fill(reserve, 1);
  expect(held).toHaveLength(16);
  held[0]!();
  held[0]!();
  expect(fill(reserve, 1)).toHaveLength(1);
});

test('partners together are limited, and each partner without a body can reserve one', () => {
  const reserve = createBodyMemory();
  const counts = Array.from({ length: 200 }, (_, partnerId) => fill(reserve, partnerId).length);
  expect(counts.slice(0, 5)).toEqual([16, 16, 16, 16, 1]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(128);
});

test('all memory is free again when all bodies are released', () => {
  const reserve = createBodyMemory();
  for (const round of [1, 2, 3]) {
    const held = fill(reserve, round);
    expect(held).toHaveLength(16);
    for (const release of held) release();
  }
  expect([1, 2, 3, 4].map((partnerId) => fill(reserve, partnerId).length)).toEqual([16, 16, 16, 16]);
});
