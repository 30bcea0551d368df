import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openSmtp } from '@floodgate/mail/send/smtp';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../harness/database.ts';
import { createFixture } from '../harness/fixture.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, confirm, enable, startMails } from './mail-process.ts';

// How many e-mails a second: measured, not judged, where MEASURE_MAILS says how many are sent. Beside it, what the same server takes
// from nodemailer's pool alone, of one message of the same size: the machine's speed varies, the ratio much less. A second test
// measures what refused addresses cost the others.

const COUNT = Number(process.env['MEASURE_MAILS'] ?? 0);
/** Among so many events. */
const EVENTS = Number(process.env['MEASURE_EVENTS'] ?? 1);
const SIZE = 9_200;
const POLL_MS = 250;

async function startServer() {
  const server = spawn(process.execPath, [new URL('counting-server.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(server.stdout, 'data')) as [Buffer];
  return {
    url: String(url).trim(),
    async end(): Promise<number> {
      const told = once(server.stdout, 'data');
      server.kill('SIGTERM');
      return Number(String((await told)[0]));
    },
  };
}

/** E-mails a second of the pool alone. */
async function measurePool(url: string): Promise<number> {
  const pool = openSmtp({ url, connections: 10 });
  const content = Buffer.from(`Subject: none\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(SIZE / 78)}`);
  const mail = {
    from: 'a@floodgate-tests.org',
    to: 'b@floodgate-tests.org',
    messageId: '<a@b>',
    subject: '',
    content,
  };
  let left = COUNT;
  const send = async () => {
    while (left-- > 0) await pool.send(mail);
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 60 }, send));
  pool.close();
  return (COUNT / (performance.now() - startedAt)) * 1_000;
}

/** CPU time of a process in ms. */
const cpuMs = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

test.runIf(COUNT > 0)(
  'e-mails a second',
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const fixtures = await Promise.all(Array.from({ length: EVENTS }, () => createFixture(database.db)));
    for (const fixture of fixtures) {
      const ticketId = await fixture.addTicket({ capacity: COUNT });
      for (let at = 0; at < COUNT / EVENTS; at += 1_000)
        await confirm(database.db, fixture, ticketId, addresses(1_000, `guest-${fixture.eventId}-${at}`));
    }
    const server = await startServer();
    const before = await measurePool(server.url);
    const delivery = await startMails(database, { SMTP_URL: server.url, LOG_LEVEL: 'info' });
    const count = async () => {
      await delay(POLL_MS);
      const all = database.db
        .selectFrom('mail_deliveries')
        .select(({ fn }) => fn.countAll<number>().as('count'));
      return (await all.where('state', '=', 'sent').executeTakeFirstOrThrow()).count;
    };
    for (const fixture of fixtures) await enable(database.db, fixture);
    const first = await waitUntil('the first are sent', async () => (await count()) || null);
    const [startedAt, cpuBefore] = [performance.now(), cpuMs(delivery.child.pid!)];
    await waitUntil('all are sent', async () => (await count()) >= COUNT, 240_000);
    const perSecond = ((COUNT - first) / (performance.now() - startedAt)) * 1_000;
    const cpuUs = ((cpuMs(delivery.child.pid!) - cpuBefore) / (COUNT - first)) * 1_000;
    const after = await measurePool(server.url);
    expect(await server.end()).toBe(3 * COUNT);
    const pool = (before + after) / 2;
    console.log(
      `${Math.round(perSecond)} e-mails/s, ${Math.round(cpuUs)} µs of CPU each; ` +
        `the pool alone: ${Math.round(pool)}/s; ratio ${(perSecond / pool).toFixed(2)}`,
    );
  },
  300_000,
);

const PAIRS = 5;
/** Of 1,000 addresses. */
const BLOCKED = 20;

test.runIf(COUNT > 0)(
  'e-mails of which 2 % are refused by policy, against none',
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const server = await startServer();
    await startMails(database, { SMTP_URL: server.url });

    /** Seconds from the moment when e-mails are switched on until each was tried. */
    async function measure(blocked: number): Promise<number> {
      const fixture = await createFixture(database.db);
      const ticketId = await fixture.addTicket({ capacity: COUNT });
      const every = blocked > 0 ? 1_000 / blocked : Infinity;
      for (let at = 0; at < COUNT; at += 1_000) {
        const guests = addresses(1_000, `guest-${fixture.eventId}-${at}`);
        const these = guests.map((guest, index) =>
          index % every === every - 1 ? `blocked-${guest}` : guest,
        );
        await confirm(database.db, fixture, ticketId, these);
      }
      const startedAt = performance.now();
      await enable(database.db, fixture);
      const tried = database.db
        .selectFrom('mail_deliveries')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('event_id', '=', fixture.eventId);
      const isOver = async () => (await tried.executeTakeFirstOrThrow()).count >= COUNT;
      await waitUntil('each was tried', isOver, 240_000);
      return (performance.now() - startedAt) / 1_000;
    }

    await measure(0);
    const seconds: { none: number; some: number }[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1)
      seconds.push({ none: await measure(0), some: await measure(BLOCKED) });
    const ratios = seconds.map(({ none, some }) => some / none).toSorted((a, b) => a - b);
    const list = seconds.map(({ none, some }) => `${none.toFixed(2)} s and ${some.toFixed(2)} s`).join(', ');
    console.log(`none and 2 % refused: ${list}; median ratio ${ratios[Math.floor(PAIRS / 2)]!.toFixed(2)}`);
  },
  600_000,
);
