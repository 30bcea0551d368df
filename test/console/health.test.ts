import { randomUUID } from 'node:crypto';
import { reportProcess } from '@floodgate/operators';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

/** Reports a process until the test ends or `die` is called. */
async function run(service: string, facts: () => object = () => ({})) {
  const report = reportProcess(given.database.db, { service, version: '1.2.3' }, facts);
  const timer = setInterval(() => void report.run().catch(() => {}), 500);
  await report.run();
  const die = () => clearInterval(timer);
  const end = async () => {
    die();
    await report.end();
  };
  onTestFinished(end);
  return { id: report.id, die, end };
}

const runAll = () => Promise.all(['api', 'worker', 'delivery'].map((service) => run(service)));

const page = async (at: string, cookie: string, language = 'en') => {
  const response = await given.request(at, { headers: { cookie, 'accept-language': language } });
  return (await response.text()).replaceAll('&#61;', '=').replaceAll('&#38;', '&');
};
const bannerOf = (html: string) => /<div class="banner"[^]*?<\/div>/.exec(html)?.[0] ?? '';
const shows = (cookie: string, text: string, language?: string) =>
  waitUntil(`the banner says ${text}`, async () => {
    const banner = bannerOf(await page('/', cookie, language));
    return banner.includes(text) && banner;
  });
const isFine = (cookie: string) =>
  waitUntil('no banner', async () => bannerOf(await page('/', cookie)) === '');

test('a process that dies is named on every page with its entry of the runbook, and one that is stopped is not', async () => {
  const { cookie } = await given.addOperator('viewer');
  const [api, worker] = await runAll();
  await run('api');
  const third = await run('api');
  await isFine(cookie);
  await third.end();
  worker!.die();
  const banner = await shows(cookie, 'No worker reports.');
  expect(banner).toContain('href="/help/operate/runbook#servicedown"');
  expect(banner).not.toContain('API');
  expect(bannerOf(await page('/', cookie, 'de'))).toContain('Kein Worker meldet sich.');
  await run('worker');
  await isFine(cookie);
  // The other one ran already, so it does not stand for this one.
  api!.die();
  expect(await shows(cookie, 'has not reported for')).toContain('href="/help/operate/runbook#processdown"');
});

test('a queue that a worker does not reach is named', async () => {
  const { cookie } = await given.addOperator('viewer');
  await Promise.all([run('api'), run('delivery')]);
  let queue = 'up';
  await run('worker', () => ({ queue }));
  await isFine(cookie);
  queue = 'down';
  expect(await shows(cookie, 'The queue does not answer.')).toContain(
    'href="/help/operate/runbook#queuedown"',
  );
});

test('the page of the state has processes, the backlog in words, failed batches with a way to try again, and failing readers', async () => {
  const { db } = given.database;
  const { cookie } = await given.addOperator('operator');
  await runAll();
  await run('api', () => ({ waiting: 12 }));
  await isFine(cookie);
  expect(await page('/health', cookie)).toMatch(/Everything works\.[^]*1\.2\.3[^]*12 calls wait/);
  const gala = await createFixture(db);
  await gala.addTicket();
  const { batchId } = await commitBatch(db, gala);
  await sql`
    update batches set state = 'failed', finished_at = now(), failure = '42501' where id = ${batchId}`.execute(
    db,
  );
  await sql`
    insert into journal_consumers (shard_id, id, event_id, partner_id, kind, failures, failing_since)
    values (${gala.shardId}, ${randomUUID()}, ${gala.eventId}, 0, 'mail', 3, now() - interval '7 hours')`.execute(
    db,
  );
  await shows(cookie, 'One batch of registrations could not be confirmed.');
  const text = (await page('/health', cookie)).replaceAll(/\s+/g, ' ');
  expect(text).toMatch(/things? needs? attention/);
  expect(text).toContain('The worker lacks a privilege.');
  expect(text).toContain(`/do/batchRedrive?batchIds=${batchId}`);
  expect(text).toContain(`<a href="/events/${gala.eventId}/messages">E-mails</a>`);
  expect(text).toContain('7 hours ago');
  await sql`delete from journal_consumers where event_id = ${gala.eventId}`.execute(db);
  await sql`delete from batches where id = ${batchId}`.execute(db);
});

test('an operator of one event learns that confirmations wait, and no figures of other events', async () => {
  const { db } = given.database;
  const gala = await createFixture(db);
  await gala.addTicket();
  const { batchId } = await commitBatch(db, gala);
  await sql`
    update batches set state = 'failed', finished_at = now(), failure = '42501' where id = ${batchId}`.execute(
    db,
  );
  const limited = await given.addOperator(null, { [gala.eventId]: 'operator' });
  const { cookie } = await given.addOperator('viewer');
  await Promise.all([run('api'), run('delivery')]);
  await shows(cookie, 'could not be confirmed');
  const banner = await shows(limited.cookie, 'No worker reports.');
  expect(banner).not.toContain('could not be confirmed');
  const health = await page('/health', limited.cookie);
  expect(health).not.toContain('1.2.3');
  await sql`delete from batches where id = ${batchId}`.execute(db);
});

test('of more than two problems, the first one is shown, and the others are folded below it', async () => {
  const { cookie } = await given.addOperator('viewer');
  const [shown = '', folded = ''] = (await shows(cookie, 'No API reports.')).split('<details>');
  expect(shown.match(/<li>/g)).toHaveLength(1);
  expect(shown).toContain('No API reports.');
  expect(folded).toContain('No worker reports.');
  expect(folded).toContain('No delivery process reports.');
  expect(folded).toContain(`${folded.match(/<li>/g)?.length} more problems`);
});

test('nobody who is not signed in sees the state', async () => {
  const { cookie } = await given.addOperator('viewer');
  await shows(cookie, 'reports.');
  expect(bannerOf(await page('/sign-in', ''))).toBe('');
});
