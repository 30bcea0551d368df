import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parseGcTrace } from './gc-trace.ts';

const line = (fields: object) => `[27184:0x137b3000:0]       56 ms: GC: ${JSON.stringify(fields)}`;
const scavenge = {
  gc: 's',
  pause: 2.5,
  start_object_size: 30_000_000,
  end_object_size: 21_000_000,
  allocated: 10_000_000,
};

test('what a scavenge frees is measured by what was allocated before it', () => {
  expect(parseGcTrace(line(scavenge))).toEqual([{ kind: 'scavenge', pauseMs: 2.5, freedShare: 0.9 }]);
});

test('what is not a whole line of the collector is passed over', () => {
  const output = [
    '{"level":30,"msg":"Server listening at http://127.0.0.1:3000"}',
    line(scavenge),
    '[27184:0x137b3000:0]       59 ms: Memory pool: Removed pages: 0',
    line(scavenge).replace('"pause"', '{"level":30}'),
    line({ ...scavenge, gc: 'mc' }),
    line(scavenge).slice(0, 80),
  ].join('\n');
  expect(parseGcTrace(output).map(({ kind }) => kind)).toEqual(['scavenge', 'mark-compact']);
});

test('this Node.js writes such lines', () => {
  const source = 'const kept = []; for (let i = 0; i < 1e6; i++) kept[i % 1000] = { i }; gc();';
  const flags = ['--expose-gc', '--trace-gc-nvp', '-e', source];
  const collections = parseGcTrace(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
  expect(collections.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['mark-compact', 'scavenge']) as string[],
  );
  // The first collections follow Node.js's own allocations, most of which survive.
  const { pauseMs, freedShare } = collections.findLast(({ kind }) => kind === 'scavenge')!;
  expect(pauseMs).toBeGreaterThan(0);
  expect(freedShare).toBeGreaterThan(0.8);
  expect(freedShare).toBeLessThan(1.2);
});
