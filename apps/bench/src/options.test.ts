import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';

test('starts are counted, and need not be', () => {
  expect(parseOptions(['--starts', '12']).starts).toBe(12);
  expect(parseOptions(['--starts']).starts).toBe(30);
  expect(parseOptions(['--starts', '--seconds', '3'])).toMatchObject({ starts: 30, seconds: 3 });
});

test('flags of V8 are taken as they are written, and may be repeated', () => {
  const { flags } = parseOptions(['--starts', '--flags', '--a --b=1', '--flags=--c', '--seconds', '3']);
  expect(flags).toEqual([['--a', '--b=1'], ['--c']]);
});

test.each([
  [['--soak', '--quick'], '--quick does not go with --soak'],
  [['--against', '../before', '--contender', 'peer-b'], '--contender does not go with --against'],
  [['--flags', '--a'], '--flags goes with --against or --starts'],
  [
    ['--rows', '5'],
    '--rows goes with --history or --webhooks or --mails or --waiting or --abandoned or --door',
  ],
  [['--rate', '5'], '--rate goes with --outages'],
  [['--starts', '0'], '--starts takes a whole number from 1, not 0'],
  [['--pairs', 'many'], '--pairs takes a whole number from 1, not many'],
])('%j is refused', (args, reason) => {
  expect(() => parseOptions(args)).toThrow(reason);
});
