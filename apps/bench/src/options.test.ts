import { expect, test } from 'vitest';
import { MODES } from './modes.ts';
import { parseOptions, usage } from './options.ts';

test('options choose the mode and replace its settings', () => {
  const rates = parseOptions(['--only', 'hot ticket,mix', '--seconds', '2']);
  expect(rates.settings).toMatchObject({ only: ['hot ticket', 'mix'], seconds: 2 });
  const { mode, settings } = parseOptions(['--outages', '--redis-seconds', '7']);
  expect(mode.name).toBe('outages');
  expect(settings).toMatchObject({ redisSeconds: 7, postgresSeconds: 10, rate: 5_000 });
});

test('another checkout is named by its folder', () => {
  const { settings } = parseOptions(['--against', '/tmp/before', '--seconds', '3']);
  expect(settings).toMatchObject({ checkout: '/tmp/before', seconds: 3 });
});

test('the help shows each mode with the options that it takes', () => {
  expect(usage()).toMatch(/--against <folder> .*\[pairs, seconds, only\]/);
  for (const { name } of MODES) expect(usage()).toContain(`\n  --${name} `);
});

test('every mode tells how long it takes', () => {
  for (const { name } of MODES) {
    const { mode, settings } = parseOptions(name === 'against' ? ['--against', '.'] : [`--${name}`]);
    expect(mode.duration(settings)).toBeGreaterThan(10);
    expect(mode.duration(settings)).toBeLessThan(1_200);
  }
});

test.each([
  [['--soak', '--quick'], '--soak does not go with --quick'],
  [['--rate', '5'], '--rate does not go with the rates'],
  [['--overload', '--pairs', '1'], '--pairs does not go with --overload'],
  [['--only', 'nothing'], 'nothing matches --only nothing'],
  [['--hostile', '--only', 'nothing'], 'nothing matches --only nothing'],
  [['--pairs', '0'], '--pairs takes a whole number from 1, not 0'],
  [['--pairs', 'many'], '--pairs takes a whole number from 1, not many'],
])('%j is refused', (args, reason) => {
  expect(() => {
    const { mode, settings } = parseOptions(args);
    return mode.duration(settings);
  }).toThrow(reason);
});
