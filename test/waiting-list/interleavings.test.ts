import { connect, type Database } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { expect, inject, vi } from 'vitest';
import { Random } from '../faults/random.ts';
import { databaseTest } from '../harness/database-test.ts';
import { createWorld, perform } from './drawn-operations.ts';
import { findProblems, settle } from './quiet-list.ts';
import { findWrongSteps, recordChanges } from './recorded-changes.ts';

const { test, given } = databaseTest({ own: 'draws operations, and compares whole tables' });

const ROUNDS = Number(process.env['WAITING_ROUNDS'] ?? (inject('tier') === 'gate' ? 10 : 200));
const SEED = Number(process.env['WAITING_SEED'] ?? Date.now() % 2 ** 31);
const CONNECTIONS = 5;
const OPERATIONS = 25;
// Without it, a round that hangs is noticed after the time of 50 rounds, and a thousand need more.
vi.setConfig({ testTimeout: 60_000 + ROUNDS * 5_000 });

let connections: Database[];

test.beforeAll(async () => {
  const options = { connectionString: given.database.url, applicationName: 'tests', maxConnections: 1 };
  connections = Array.from({ length: CONNECTIONS }, () => connect(options));
  await recordChanges(given.database.db);
});
test.afterAll(() => Promise.all(connections.map((connection) => connection.destroy())));

const MOST_ROUNDS = Math.max(ROUNDS, 100);
const USES = [
  'join: joined',
  'confirm: confirmed (offer)',
  'leave: true',
  'register: sold out',
  'serve: some',
  'expire: some',
];

/** Runs drawn operations on several connections at the same time. Returns what was wrong, during them and afterwards. */
async function interleave(seed: number, uses: Record<string, number>): Promise<string[]> {
  const { db } = given.database;
  const random = new Random(seed);
  const world = await createWorld(db, random);
  const draws = connections.map(() => new Random(random.seed()));
  const failures = await Promise.allSettled(
    connections.map((connection, index) => perform(connection, world, draws[index]!, OPERATIONS)),
  );
  await settle(db, world);
  for (const [use, count] of Object.entries(world.uses)) uses[use] = (uses[use] ?? 0) + count;
  const wrongSteps = await Promise.all(
    world.ticketIds.map((ticketId) => findWrongSteps(db, ticketId, world.holdSharePercent < 100)),
  );
  return [
    ...failures.flatMap((ended) => (ended.status === 'rejected' ? [String(ended.reason)] : [])),
    ...wrongSteps.flat(),
    ...(await findProblems(db, world)),
    ...(await reconcile(db)).map(({ subject, problem }) => `${subject} ${problem}`),
  ];
}

// The seed draws the operations. Postgres decides which of them come first, so a round that failed may need
// several repetitions.
test(`${ROUNDS} rounds on ${CONNECTIONS} connections: the oldest entry that fits is served, and newcomers wait`, async () => {
  const uses: Record<string, number> = {};
  const isMissing = (use: string) => !uses[use];
  // Few rounds do not always draw every use. Without all of them, the rounds would show little.
  for (let round = 0; round < ROUNDS || (round < MOST_ROUNDS && USES.some(isMissing)); round += 1) {
    const seed = (SEED + round) % 2 ** 31;
    const problems = await interleave(seed, uses).catch((error: Error) => [String(error)]);
    expect(
      problems.slice(0, 10),
      `again: WAITING_SEED=${seed} WAITING_ROUNDS=20 npm test -- interleavings`,
    ).toEqual([]);
  }
  const table = Object.entries(uses).toSorted(([a], [b]) => a.localeCompare(b));
  if (process.env['WAITING_ROUNDS'])
    process.stdout.write(`${table.map((use) => use.join(' × ')).join('\n')}\n`);
  expect(USES.filter(isMissing)).toEqual([]);
});
