import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { addOperator } from '../harness/operators.ts';
import { eventTest } from '../harness/event-test.ts';
import { findFreePort } from '../harness/free-port.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { peakMiB } from '../harness/process-usage.ts';
import { startProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, confirm, enable, startMailProcess } from '../mail/mail-process.ts';
import { podOf, readManifests, type Workload } from './manifests.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

// The memory of processes that no benchmark measures, and their limits in docker/kubernetes. MAILS=60000 for
// the figures of the manifests.

const MAILS = Number(process.env['MAILS'] ?? 2_000);
const BATCH = 500;
const VIEWERS = 200;

test.override('ticket', { capacity: 1_000_000 });

function limitMiB(file: string): number {
  const { container } = podOf(readManifests(`base/${file}.yaml`)[0] as Workload);
  return Number.parseInt(String(container.resources!.limits!['memory']));
}

/** Writes the figure, and expects it to be below the limit. Other systems than Linux have none. */
function expectBelowLimit(file: string, peak = 0): void {
  process.stdout.write(`${file}: ${Math.ceil(peak)} MiB at most\n`);
  expect(peak).toBeLessThan(limitMiB(file));
}

async function confirmAttendees(): Promise<void> {
  for (let sent = 0; sent < MAILS; sent += BATCH)
    await confirm(given.database.db, given.gala, given.ticketId, addresses(BATCH, `from-${sent}`));
}

test('the delivery process sends e-mails', async () => {
  const server = await startMailServer();
  await confirmAttendees();
  await enable(given.database.db, given.gala);
  const delivery = await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitUntil('all e-mails are sent', () => server.mails.length === MAILS);
  expectBelowLimit('delivery', await peakMiB(delivery.child.pid!));
});

test('the console shows a launch to many, and exports', async () => {
  await confirmAttendees();
  const port = await findFreePort();
  const running = startProcess('console', { DATABASE_URL: given.database.url, CONSOLE_PORT: `${port}` });
  onTestFinished(async () => void (await running.end('SIGKILL')));
  const { cookie } = await addOperator(given.database.db, 'owner');
  const end = new AbortController();
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { cookie }, signal: end.signal });
  await waitUntil('it is ready', () =>
    get('/health/ready').then(({ ok }) => ok, () => false),
  ); // prettier-ignore
  const viewers = Array.from({ length: VIEWERS }, () => get(`/live/${given.gala.eventId}/events`));
  for (const { status } of await Promise.all(viewers)) expect(status).toBe(200);
  for (let exports = 0; exports < 5; exports++) {
    const answer = await get(`/operator/v1/events/${given.gala.eventId}/attendees?format=csv`);
    expect((await answer.text()).match(/\n/g)).toHaveLength(MAILS + 1);
  }
  expectBelowLimit('console', await peakMiB(running.child.pid!));
  end.abort();
});

test('the command migrates', async () => {
  const command = startProcess('cli', { DATABASE_URL: given.database.url }, ['migrate']);
  let peak: number | undefined;
  while (command.child.exitCode === null) {
    peak = (await peakMiB(command.child.pid!)) ?? peak;
    await delay(5);
  }
  expect(await command.exited).toBe(0);
  expectBelowLimit('migrate', peak);
});
