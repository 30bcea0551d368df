import { randomInt } from 'node:crypto';

/** The pass code's range: ten random digits, the first not zero, so that it always has ten. */
const PASS_CODE_MIN = 1_000_000_000;
const PASS_CODE_MAX = 10_000_000_000;

/** Draws the unguessable part of a pass reference from the system's secure random source. */
export function drawPassCode(): number {
  return randomInt(PASS_CODE_MIN, PASS_CODE_MAX);
}
