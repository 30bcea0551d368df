import { expect, inject } from 'vitest';
import { Random } from '../faults/random.ts';
import { databaseTest } from '../harness/database-test.ts';
import { findFreePort } from '../harness/free-port.ts';
import { startApiProcess, type ServiceProcess } from '../harness/service-process.ts';
import { createWorld, type Server } from './drawn-doors.ts';
import { play } from './drawn-scans.ts';
import { findProblems } from './model-check.ts';

const { test, given } = databaseTest({ own: 'draws operations, and compares whole tables' });

const ROUNDS = Number(process.env['DOOR_ROUNDS'] ?? (inject('tier') === 'gate' ? 3 : 30));
const SEED = Number(process.env['DOOR_SEED'] ?? Date.now() % 2 ** 31);
/** A start of the API takes longer than a round. */
const ROUNDS_PER_KILL = 4;

let server: Server;
let api: ServiceProcess & { baseUrl: string };
let second: ServiceProcess & { baseUrl: string };

test.beforeAll(async () => {
  const PORT = String(await findFreePort());
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url, LOG_LEVEL: 'info', PORT };
  const start = async () => {
    api = await startApiProcess(env);
  };
  const kill = async () => {
    await api.end('SIGKILL');
  };
  await start();
  second = await startApiProcess({ ...env, PORT: String(await findFreePort()) });
  server = { baseUrl: api.baseUrl, otherUrl: second.baseUrl, start, kill };
});
test.afterAll(() => Promise.all([api.end(), second.end()]));

/** Plays one round, and adds what it has done to the totals. */
async function playRound(seed: number, totals: Record<string, number>): Promise<string[]> {
  const random = new Random(seed);
  const world = await createWorld(given.database.db, server, random);
  await play(world, random, seed % ROUNDS_PER_KILL === 0);
  const { problems, counts } = await findProblems(world);
  for (const [name, count] of Object.entries({ ...world.uses, ...counts }))
    totals[name] = (totals[name] ?? 0) + count;
  return [...world.problems, ...problems];
}

// The seed draws the steps. The duration of calls is not drawn, so a round that failed may need several repetitions.
test(`${ROUNDS} rounds of drawn scans: every conflict is reported, and nothing else`, async () => {
  const totals: Record<string, number> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    const seed = (SEED + round) % 2 ** 31;
    const problems = await playRound(seed, totals).catch((error: Error) => [String(error.stack)]);
    expect(problems.slice(0, 10), `again: DOOR_SEED=${seed} DOOR_ROUNDS=1 npm test -- door/model`).toEqual(
      [],
    );
  }
  const table = Object.entries(totals).toSorted(([one], [other]) => one.localeCompare(other));
  if (process.env['DOOR_ROUNDS'])
    process.stdout.write(`${table.map((total) => total.join(' × ')).join('\n')}\n`);
  // Otherwise the rounds would show nothing. A few rounds do not have everything.
  if (ROUNDS < 20) return;
  for (const name of [
    'conflicts',
    'complete',
    'not complete',
    'kill: done',
    'overtaken: admitted',
    'undo: done',
    'take during scans: 00',
    'take during scans: 35',
    'operator changes: admitted',
    'operator cancels: admitted',
  ])
    expect.soft(totals[name], name).toBeGreaterThan(0);
});
