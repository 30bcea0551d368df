import { expect, test } from 'vitest';
import { BodyRoom } from './bodies.ts';

const MEBIBYTE = 1024 * 1024;

/** Returns how many bodies of a mebibyte a partner gets into the room. */
function fill(room: BodyRoom, partnerId: number): number {
  let count = 0;
  while (room.enter(partnerId, MEBIBYTE)) count += 1;
  return count;
}

test('a partner holds at most its part, and gets room again for what it gives back', () => {
  const room = new BodyRoom();
  expect(fill(room, 1)).toBe(16);
  room.leave(1, MEBIBYTE);
  expect(fill(room, 1)).toBe(1);
});

test('partners together hold a bounded share, and each that holds nothing gets room for one body', () => {
  const room = new BodyRoom();
  const held = Array.from({ length: 200 }, (_, partnerId) => fill(room, partnerId));
  expect(held.slice(0, 5)).toEqual([16, 16, 16, 16, 1]);
  expect(held.reduce((sum, count) => sum + count)).toBe(128);
});

test('all room is free again when all bodies have left', () => {
  const room = new BodyRoom();
  for (const round of [1, 2, 3]) {
    expect(fill(room, round)).toBe(16);
    for (let count = 0; count < 16; count += 1) room.leave(round, MEBIBYTE);
  }
  expect([1, 2, 3, 4].map((partnerId) => fill(room, partnerId))).toEqual([16, 16, 16, 16]);
});
