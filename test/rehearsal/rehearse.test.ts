import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { findFreePort } from '../harness/free-port.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { runCli, startApiProcess } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';

const { test, given } = databaseTest({ own: 'what other files left would change what is measured' });

interface Document {
  figures: { offered: number; codes: Record<string, number>; soldTwice: number };
  objectives: { name: string; isMet: boolean }[];
  advice: string[];
}

async function reportFile(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  return directory.file('report.html');
}

async function startRehearsal() {
  const metricsPort = await findFreePort();
  const env = {
    DATABASE_URL: given.database.url,
    QUEUE_URL: given.database.url,
    METRICS_PORT: String(metricsPort),
  };
  const api = await startApiProcess(env);
  onTestFinished(async () => void (await api.end()));
  const event = await createFixture(given.database.db, 'allow', 'test');
  const report = await reportFile();
  const rehearse = (of: Pick<Fixture, 'secretKey' | 'eventRef'>, ...args: string[]) =>
    runCli(
      { REHEARSAL_SECRET_KEY: of.secretKey },
      'rehearse',
      '--url',
      api.baseUrl,
      '--event',
      of.eventRef,
      '--out',
      report,
      ...args,
    );
  return { api, event, rehearse, report, metrics: `http://127.0.0.1:${metricsPort}/metrics` };
}

const documentIn = (output: string) => JSON.parse(output.slice(output.indexOf('{'))) as Document;

test('a launch is rehearsed: what was answered "00" is stored, and the report says what was measured', async () => {
  const { event, rehearse, report, metrics } = await startRehearsal();
  await event.addTicket({ capacity: 5 });
  await event.addTicket({ capacity: 150 });
  const rehearsed = await rehearse(event, '--rate', '200', '--for', '2s', '--metrics', metrics, '--json');
  expect(rehearsed.code, rehearsed.output).toBe(0);
  const { figures, objectives, advice } = documentIn(rehearsed.output);
  // Poisson: 400 on average. It sells the roomiest ticket out.
  expect(figures.offered).toBeGreaterThan(300);
  expect(figures).toMatchObject({ codes: { '00': 150, '32': figures.offered - 150 }, soldTwice: 0 });
  expect(objectives.every(({ isMet }) => isMet)).toBe(true);
  // On a busy machine, the generator can be late as well.
  expect(advice.at(-1)).toBe('All objectives are met. Nothing has to be scaled for this rate.');
  const stored = await tablesOf(given.database.db).selectFrom('registrations').select('serial').execute();
  expect(stored).toHaveLength(150);
  const html = await readFile(report, 'utf8');
  expect(html).toContain('Rehearsal of a launch: passed');
  expect(html).toContain('<polyline');
  expect(html).not.toContain(event.secretKey);
  expect(html).not.toMatch(/src=|https?:\/\//);
});

test('it fails if an objective is missed, and says which', async () => {
  // A service that is overloaded.
  const body = JSON.stringify({ responseCode: '90', responseMessage: '', responseData: null });
  const tickets = JSON.stringify({ responseCode: '00', responseData: [{ id: 1, count: 9 }] });
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const text = request.method === 'GET' ? tickets : body;
      response.writeHead(200, { 'content-length': text.length }).end(text);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const out = await reportFile();
  const secretKey = `fg_test_${'a'.repeat(16)}_${'b'.repeat(43)}`;
  keepPrivate([secretKey]);
  const rehearsed = await runCli(
    { REHEARSAL_SECRET_KEY: secretKey },
    'rehearse',
    '--url',
    `http://127.0.0.1:${port}`,
    '--event',
    'any',
    '--rate',
    '50',
    '--for',
    '1s',
    '--out',
    out,
  );
  expect(rehearsed.code).toBe(1);
  expect(rehearsed.output).toContain('missed: Viator: failed reservations; Viator: not available');
  expect(rehearsed.output).toContain('Give --metrics');
  expect(await readFile(out, 'utf8')).toContain('Rehearsal of a launch: failed');
});

test('it refuses a live key, an unknown event, an address that does not answer, and metrics that are none', async () => {
  const { event, rehearse, metrics } = await startRehearsal();
  const live = await createFixture(given.database.db);
  expect(await rehearse(live)).toMatchObject({
    code: 1,
    output: expect.stringContaining('a key for test events: it begins with fg_test_') as string,
  });
  expect((await rehearse({ ...event, eventRef: live.eventRef })).output).toContain(
    'Get Tickets was answered 404',
  );
  const empty = await createFixture(given.database.db, 'allow', 'test');
  expect((await rehearse(empty)).output).toContain('the event has no ticket on sale');
  await event.addTicket();
  expect((await rehearse(event, '--metrics', `${metrics}/none`)).output).toContain(
    'the metrics cannot be read',
  );
  expect((await rehearse(event, '--url', 'http://127.0.0.1:1')).output).toContain(
    '127.0.0.1:1 does not answer',
  );
  expect(await rehearse(event, '--url', 'nowhere')).toMatchObject({ code: 2 });
  expect(await runCli({}, 'rehearse', '--url', 'http://127.0.0.1:1', '--event', 'x')).toMatchObject({
    code: 1,
    output: expect.stringContaining('set REHEARSAL_SECRET_KEY') as string,
  });
});
