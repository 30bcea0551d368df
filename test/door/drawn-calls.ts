import type { Outcome } from '../harness/door-device.ts';
import { answerOf, isRefused } from '../harness/door-device.ts';
import type { Answer } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { waitingOf, type Door, type Entry, type World } from './drawn-doors.ts';

/** Uploads entries until the server answers, and notes what it says. */
export async function upload(world: World, door: Door, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await waitUntil(`${door.name} uploads`, async () => {
    const answer = await tryUpload(door, entries);
    if (answer?.body.responseCode === '00') return note(world, door, entries, answer);
    return answer !== null && !isRefused(answer) && fail(world, door, answer);
  });
}

/** Uploads entries once. Resolves to null if there is no answer. */
export async function tryUpload(door: Door, entries: readonly Entry[]): Promise<Answer | null> {
  const startMs = Date.now();
  const answer = await door.client.upload(entries.map(({ scan }) => scan)).catch(() => null);
  const endMs = Date.now();
  // The next scan is later than the answer.
  door.lastMs = Math.max(door.lastMs, endMs);
  for (const entry of entries.filter(({ isReceived }) => !isReceived))
    // The time of a question is that of the server. The time of a decision is corrected by what the device sends.
    entry.slackMs = Math.max(entry.slackMs, endMs - (entry.isLive ? entry.trueMs : startMs));
  return answer;
}

function fail({ problems }: World, { name }: Door, { text }: Answer): true {
  problems.push(`${name}: ${text}`);
  return true;
}

/** Notes what the server has answered to an upload. */
function note(world: World, door: Door, entries: readonly Entry[], { body }: Answer): true {
  const { outcomes } = body.responseData as { outcomes: Outcome[] };
  const isNew = entries.some(({ isReceived }) => !isReceived);
  if (isNew) door.isSignedOff = false;
  for (const [index, entry] of entries.entries()) {
    const { counter, outcome } = outcomes[index] ?? { counter: 0, outcome: 'none' };
    const { scan, isReceived } = entry;
    if (counter !== scan.counter)
      world.problems.push(`${door.name}: an outcome of ${counter}, not ${scan.counter}`);
    if (isReceived) continue;
    entry.isReceived = true;
    entry.isAlone = ![...entries, ...door.entries.filter((one) => one.isReceived)].some(
      (one) => one.scan.of === scan.counter,
    );
    entry.outcome = outcome;
    door.named = Math.max(door.named, scan.counter);
  }
  return true;
}

/** Starts uploads of all these doors, ends the API process during them, and repeats those without an answer. */
export async function killDuring(world: World, doors: readonly Door[], answered: number, ticks: number) {
  let arrived = 0;
  let goOn = () => {};
  const enough = new Promise<void>((resolve) => (goOn = resolve));
  const calls = doors.map(async (door) => {
    const entries = waitingOf(door);
    const answer = await tryUpload(door, entries);
    arrived += 1;
    if (arrived >= answered) goOn();
    return { door, entries, answer };
  });
  if (answered > 0) await enough;
  for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
  await world.server.kill();
  const ended = await Promise.all(calls);
  await world.server.start();
  await Promise.all(
    ended.map(async ({ door, entries, answer }) =>
      answer?.body.responseCode === '00' ? note(world, door, entries, answer) : upload(world, door, entries),
    ),
  );
}

/** Signs off. */
export async function signOff(world: World, door: Door): Promise<void> {
  const answer = await answerOf(() => door.client.signOff());
  if (answer.body.responseCode !== '00') fail(world, door, answer);
  door.isSignedOff = true;
  door.named = Math.max(door.named, door.entries.length);
}
