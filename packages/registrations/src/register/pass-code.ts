import { randomInt } from 'node:crypto';

/**
 * Returns the unguessable part of a pass reference: ten digits, the first not zero, from a secure random
 * source.
 */
export const drawPassCode = () => randomInt(1_000_000_000, 10_000_000_000);
