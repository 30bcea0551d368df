import { expect, test } from 'vitest';
import { redactUrls, sqlStateOf } from './failure.ts';

test('SQLSTATEs are recognized among the codes of other errors', () => {
  const failing = (code: unknown) => Object.assign(new Error('x'), { code });
  for (const code of ['23505', '42P01', 'XX000', 'P0001', 'HV000', 'F0001'])
    expect(sqlStateOf(failing(code))).toBe(code);
  for (const code of ['EPIPE', 'EPERM', 'ECONNREFUSED', '2350', 23505, undefined])
    expect(sqlStateOf(failing(code))).toBeNull();
  for (const thrown of [null, '23505', { code: '23505' }]) expect(sqlStateOf(thrown)).toBeNull();
});

test('URLs lose their credentials, even if a password contains "/" and "@"', () => {
  expect(redactUrls('cannot reach redis://user:s3c@r/et@host:1/0, redis://host')).toBe(
    'cannot reach redis://…@host:1/0, redis://host',
  );
  expect(redactUrls('two: postgres://a:b@c and redis://:d@e')).toBe('two: postgres://…@c and redis://…@e');
});
