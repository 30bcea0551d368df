import { setTimeout as delay } from 'node:timers/promises';
import type { RunFixture } from '../contenders/contender.ts';
import type { Figure } from '../results.ts';
import type { Installation } from './installation.ts';

/** Number of idle webhooks, and the limit of all processes' CPU time in percent of a core. */
const STEPS = [
  { webhooks: 0, atMost: 2 },
  { webhooks: 1_000, atMost: 4 },
  { webhooks: 10_000, atMost: 10 },
];
/** Limit of a partner's webhooks for one event. */
const PER_EVENT = 10;
const AT_ONCE = 8;
/** Time until the effects of a change end: autovacuum runs once per minute. */
const SETTLE_MS = 70_000;
/** Time until the effects of the start end: autovacuum of new databases, and V8 that compiles and compacts. */
const START_MS = 150_000;

export const idleSeconds = (seconds: number): number =>
  STEPS.length * (seconds + SETTLE_MS / 1_000) + START_MS / 1_000 + 120;

/** Measures the CPU time of all processes with idle webhooks, in percent of a core. */
export async function idleShares(installation: Installation, seconds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  let webhooks = 0;
  await delay(START_MS);
  for (const step of STEPS) {
    await addWebhooks(installation, step.webhooks - webhooks);
    webhooks = step.webhooks;
    await delay(SETTLE_MS);
    const before = await installation.cpuMicros();
    await delay(seconds * 1_000);
    const used = (await installation.cpuMicros()) - before;
    const name = `idle with ${webhooks.toLocaleString('en-US')} webhooks, share of a core`;
    figures.push({ name, unit: '%', rounds: [(used / seconds / 1e6) * 100], atMost: step.atMost });
  }
  return figures;
}

async function addWebhooks({ baseUrl, live }: Installation, count: number): Promise<void> {
  const events = await live.addEvents!(count / PER_EVENT, 1);
  const wanted = events.flatMap(({ eventRef }) => Array.from({ length: PER_EVENT }, () => eventRef));
  const add = async () => {
    for (let eventRef = wanted.pop(); eventRef !== undefined; eventRef = wanted.pop())
      await addWebhook(baseUrl, live, eventRef);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, add));
}

async function addWebhook(baseUrl: string, { secretKey }: RunFixture, eventRef: string): Promise<void> {
  const response = await fetch(`${baseUrl}/api/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-secret-key': secretKey, 'x-event-ref': eventRef },
    body: JSON.stringify({ url: 'https://webhooks.example/floodgate' }),
  });
  if (!response.ok) throw new Error(`a webhook was refused: ${await response.text()}`);
}
