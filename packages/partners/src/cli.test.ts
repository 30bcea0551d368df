import { expect, test } from 'vitest';
import { stateOf } from './cli.ts';

const at = (time: string) => new Date(`2026-11-21T${time}Z`);

test('a key is open until it expires or is revoked', () => {
  const now = at('09:00:00');
  expect(stateOf({ revokedAt: null, expiresAt: null }, now)).toBe('open');
  expect(stateOf({ revokedAt: null, expiresAt: at('09:00:01') }, now)).toBe('open');
  expect(stateOf({ revokedAt: null, expiresAt: now }, now)).toBe('expired');
  expect(stateOf({ revokedAt: at('08:00:00'), expiresAt: at('08:30:00') }, now)).toBe('revoked');
});
