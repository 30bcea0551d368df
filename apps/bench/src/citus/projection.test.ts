import { expect, test } from 'vitest';
import type { CitusRun } from '../results.ts';
import { project, splitOf } from './projection.ts';

const run = (engine: CitusRun['engine'], coordinator: number, fault = ''): CitusRun => ({
  engine,
  load: 'launches',
  round: 1,
  perSecond: 1,
  cpuMicros: { coordinator, workers: 28, apis: 70, worker: 0, redis: 0 },
  batchSize: 1,
  p50Ms: 1,
  p99Ms: 1,
  failed: 0,
  fault,
});

test('only runs that were entered by the coordinator, and whose books balance, are projected', () => {
  const others = [run('plain Postgres', 1), run('Citus, entered by its workers', 2), run('Citus', 3, 'lost')];
  expect(splitOf(others)).toBeUndefined();
  expect(splitOf([...others, run('Citus', 5), run('Citus', 7), run('Citus', 9)])).toMatchObject({
    coordinator: 7,
  });
});

test('one coordinator ends the growth, and every server as an entry does not', () => {
  // 0.7 of 8 cores: 5.6 s of CPU time per second.
  const split = { coordinator: 7, workers: 28, apis: 70 };
  expect(project(split, 2)).toEqual({
    nodes: 2,
    nodesPerSecond: 400_000,
    coordinatorPerSecond: 800_000,
    byCoordinator: { perSecond: 400_000, apis: 40, connections: 160 },
    byAnyNode: { perSecond: 320_000, apis: 32, connections: 192 },
  });
  expect(project(split, 64)).toMatchObject({
    byCoordinator: { perSecond: 800_000 },
    byAnyNode: { perSecond: 10_240_000 },
  });
});
