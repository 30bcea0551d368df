import { randomUUID } from 'node:crypto';
import { reserveBatch, type Reservation } from '@floodgate/registrations';
import { removeOldSeconds } from '@floodgate/tickets/console';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { perform } from '@floodgate/audit';
import { reportProcess, signOutOperatorAction } from '@floodgate/operators';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

/** Watches a launch. Returns the text of the latest snapshot, and whether the stream has ended. */
async function watch(eventId: number, cookie: string) {
  const abort = new AbortController();
  const response = await given.request(`/live/${eventId}/events`, {
    headers: { cookie },
    signal: abort.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const state = { snapshots: 0, latest: '', isOver: false, leave: () => abort.abort() };
  const read = async () => {
    let rest = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop()!;
      state.snapshots += events.length;
      if (events.length > 0) state.latest = textOf(events.at(-1)!);
    }
  };
  void read()
    .catch(() => {})
    .finally(() => (state.isOver = true));
  return state;
}

const page = async (at: string, cookie: string) =>
  (await (await given.request(at, { headers: { cookie, 'accept-language': 'en' } })).text())
    // As a browser reads addresses.
    .replaceAll('&#61;', '=')
    .replaceAll('&#38;', '&');

const register = (gala: Fixture, ticketId: number, count: number) =>
  reserveBatch(
    given.database.db,
    randomUUID(),
    Array<Reservation>(count).fill(reservationOf(gala, ticketId)),
  );

interface Row {
  at: Date;
  accepted: number;
  refused: Record<string, number>;
  tickets: Record<string, number[]>;
}

const rowsOf = async ({ eventId }: Fixture) => {
  const { rows } = await sql<Row>`
    select at, accepted, refused, tickets from sale_seconds where event_id = ${eventId} order by at`.execute(
    given.database.db,
  );
  return rows;
};
/** Waits until the console knows that an event is on sale. */
const isKept = (gala: Fixture) => waitUntil('the first second', async () => (await rowsOf(gala)).length > 0);
const sumOf = (rows: readonly Row[]) => rows.reduce((sum, { accepted }) => sum + accepted, 0);

const calls = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and application_name = 'floodgate-console' and query like '%tickets%'
      and state_change > now() - interval '1 s'`.execute(given.database.db);
  return rows[0]!.count;
};

test('the figures are those of Postgres, and nobody watching costs no query of a page', async () => {
  const gala = await createFixture(given.database.db);
  const ticketId = await gala.addTicket({ capacity: 100 });
  const { cookie } = await given.addOperator('viewer');
  const live = await watch(gala.eventId, cookie);
  await waitUntil('a snapshot', () => live.snapshots > 0);
  expect(live.latest).toContain('Standing 100 0 0 On sale');
  await isKept(gala);
  await register(gala, ticketId, 3);
  await waitUntil('the new figures', () => live.latest.includes('Standing 97 3'));
  // Three in the last five seconds.
  await waitUntil('the pace', () => live.latest.includes('0.6 accepted per second'));
  expect(live.latest).toMatch(/Sold out in about \d/);
  live.leave();
  await waitUntil('no query', async () => (await calls()) === 0);
});

test('two viewers share the snapshots', async () => {
  const gala = await createFixture(given.database.db);
  await gala.addTicket();
  const { cookie } = await given.addOperator('viewer');
  const both = [await watch(gala.eventId, cookie), await watch(gala.eventId, cookie)];
  await waitUntil('three snapshots', () => both.every(({ snapshots }) => snapshots >= 3));
  both.forEach(({ leave }) => leave());
});

test('a viewer who is signed out sees no further snapshot', async () => {
  const gala = await createFixture(given.database.db);
  const [viewer, other] = [await given.addOperator('viewer'), await given.addOperator('viewer')];
  const [live, others] = [await watch(gala.eventId, viewer.cookie), await watch(gala.eventId, other.cookie)];
  await waitUntil('a snapshot', () => live.snapshots > 0);
  await perform(given.database.db, signOutOperatorAction, { name: viewer.name }, 'test');
  await waitUntil('the end of the stream', () => live.isOver);
  expect(others.isOver).toBe(false);
  others.leave();
});

test('refused requests are those of the event, in words, and waiting calls are those of all APIs', async () => {
  const gala = await createFixture(given.database.db);
  await gala.addTicket();
  const { cookie } = await given.addOperator('viewer');
  let refused = 0;
  const report = reportProcess(given.database.db, { service: 'api', version: '1' }, () => ({
    waiting: 7,
    refused: { '20': refused, '32': refused * 2 },
    refusedOf: { [gala.eventId]: { '32': refused }, 1_000_000: { '33': refused } },
  }));
  await report.run();
  const live = await watch(gala.eventId, cookie);
  onTestFinished(() => live.leave());
  await isKept(gala);
  await waitUntil('a snapshot', () => live.latest.includes('7 calls wait for their commit'));
  await waitUntil('a rate', async () => {
    refused += 100;
    await report.run();
    return /Sold out \(32\) No seats are left that this partner may sell\. [1-9]/.test(live.latest);
  });
  expect(live.latest).not.toContain('Already registered');
  await waitUntil('those of nobody', async () => {
    refused += 100;
    await report.run();
    return live.latest.includes('requests per second without a valid key or event are refused');
  });
  const rows = await rowsOf(gala);
  expect(rows.every(({ refused: { '32': count = 0 } }) => count <= refused)).toBe(true);
  await report.end();
});

test('each second in which something changes is kept, also while nobody watches', async () => {
  const gala = await createFixture(given.database.db);
  const ticketId = await gala.addTicket({ capacity: 100 });
  const silent = await gala.addTicket({ title: 'Seated', capacity: 10 });
  await isKept(gala);
  for (const count of [3, 4]) {
    const before = sumOf(await rowsOf(gala));
    await register(gala, ticketId, count);
    await waitUntil('it is kept', async () => sumOf(await rowsOf(gala)) === before + count);
  }
  const rows = await rowsOf(gala);
  expect(rows.map(({ accepted }) => accepted).filter(Boolean)).toEqual([3, 4]);
  expect(rows.at(-1)!.tickets).toEqual({ [ticketId]: [93, 4], [silent]: [10, 0] });
  // Two of them may have been found one after the other when the event was new.
  expect(rows.length).toBeLessThanOrEqual(4);
});

test('one console writes, and another one takes over when it is late', async () => {
  const { db } = given.database;
  const first = randomUUID();
  await sql`
    insert into processes (id, service, version, host, started_at, facts)
    values (${first}, 'console', '1', 'elsewhere', now() - interval '1 day', '{}')`.execute(db);
  const seen = (at: string) =>
    sql`update processes set seen_at = now() + ${at}::interval where id = ${first}`.execute(db);
  await seen('1 hour');
  const gala = await createFixture(db);
  const ticketId = await gala.addTicket({ capacity: 100 });
  const other = await createFixture(db);
  const { cookie } = await given.addOperator('viewer');
  const live = await watch(other.eventId, cookie);
  await waitUntil('many seconds without a row', () => live.snapshots > 7);
  live.leave();
  expect(await rowsOf(gala)).toEqual([]);
  await seen('-1 hour');
  await isKept(gala);
  await register(gala, ticketId, 2);
  await waitUntil('it is kept', async () => sumOf(await rowsOf(gala)) === 2);
});

test('an earlier minute has its figures, in the zone of the event, and ways to the minutes beside it', async () => {
  const { db } = given.database;
  const gala = await createFixture(db);
  const ticketId = await gala.addTicket({ capacity: 100 });
  await sql`update events set time_zone = 'Europe/Berlin' where id = ${gala.eventId}`.execute(db);
  const { cookie } = await given.addOperator('viewer');
  const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3_600_000);
  const keep = (seconds: number, accepted: number, left: number, refused: object) => sql`
    insert into sale_seconds (shard_id, event_id, at, accepted, refused, tickets, waiting, undelivered_ms)
    values (${gala.shardId}, ${gala.eventId}, ${hour}::timestamptz + make_interval(secs => ${seconds}),
      ${accepted}, ${JSON.stringify(refused)}::json, ${JSON.stringify({ [ticketId]: [left, accepted] })}::json,
      4, 1500)`;
  await keep(10, 20, 80, { 33: 5 }).execute(db);
  await keep(50, 10, 70, { 33: 1, 50: 2 }).execute(db);
  await keep(70, 30, 40, { 33: 7 }).execute(db);
  const local = Temporal.Instant.fromEpochMilliseconds(hour.getTime())
    .toZonedDateTimeISO('Europe/Berlin')
    .toPlainDateTime();
  const html = await page(`/live/${gala.eventId}?at=${local.toString({ smallestUnit: 'minute' })}`, cookie);
  const text = textOf(html);
  expect(text).toContain('70 seats left of 100');
  expect(text).toContain('30 accepted in this minute');
  expect(text).toContain('8 refused in this minute');
  expect(text).toContain('4 calls wait for their commit');
  expect(text).toMatch(/Already registered \(33\) [^.]+\. 6 6/);
  expect(text).toMatch(/Too many requests \(50\) [^.]+\. 2 2/);
  const next = local.add({ minutes: 1 }).toString({ smallestUnit: 'minute' });
  expect(html).toContain(`/live/${gala.eventId}?at=${encodeURIComponent(next)}`);
  expect(html).not.toContain('id="live"');
  const later = textOf(await page(`/live/${gala.eventId}?at=${next}`, cookie));
  expect(later).toContain('40 seats left of 100');
  expect(later).toMatch(/Already registered \(33\) [^.]+\. 7 13/);
  expect(textOf(await page(`/live/${gala.eventId}?at=2020-01-01T00:00`, cookie))).toContain(
    'No figures are kept',
  );
  expect(await page(`/live/${gala.eventId}?at=yesterday`, cookie)).toContain('aria-invalid="true"');
});

test('figures are kept for a day', async () => {
  const { db } = given.database;
  const gala = await createFixture(db);
  for (const hours of [23, 25])
    await sql`
      insert into sale_seconds (shard_id, event_id, at, accepted, refused, tickets)
      values (${gala.shardId}, ${gala.eventId}, now() - make_interval(hours => ${hours}), ${hours}, '{}', '{}')`.execute(
      db,
    );
  await removeOldSeconds(db);
  expect((await rowsOf(gala)).map(({ accepted }) => accepted)).toEqual([23]);
});

test('what stops a sale is at the top, one activation from the form, for those who may', async () => {
  const gala = await createFixture(given.database.db);
  const ticketId = await gala.addTicket();
  const [operator, viewer] = [await given.addOperator('operator'), await given.addOperator('viewer')];
  const html = await page(`/live/${gala.eventId}`, operator.cookie);
  const top = html.slice(0, html.indexOf('id="live"'));
  expect(top).toContain(`href="/do/ticketUpdate/switch?ticketId=${ticketId}&active=false`);
  expect(top).toContain('Stop sale of Standing');
  expect(top).toContain('Stop all sales');
  expect(await page(`/live/${gala.eventId}`, viewer.cookie)).not.toContain('Stop sale');
  // Without scripts, the page shows the state at that moment.
  expect(textOf(html)).toContain('Standing 1,000 0 0 On sale');
});

test('the sale of a called-off event is not offered to be resumed', async () => {
  const { db } = given.database;
  const { eventId, addTicket } = await createFixture(db);
  await addTicket();
  const { cookie, session } = await given.addOperator('owner');
  await given.call(session, `POST /events/${eventId}/tickets/stop-all`, {});
  const pages = async () => {
    const paths = [`/events/${eventId}`, `/live/${eventId}`];
    const answers = paths.map((path) => given.request(path, { headers: { cookie } }));
    return Promise.all(answers.map(async (answer) => (await answer).text()));
  };
  for (const text of await pages()) {
    expect(text).toMatch(/Resume sale/);
    expect(text).toContain('/do/ticketResumeAll');
  }
  await sql`update events set called_off_at = now() where id = ${eventId}`.execute(db);
  for (const text of await pages()) {
    expect(text).not.toMatch(/Resume sale/);
    expect(text).not.toContain('/do/ticketResumeAll');
  }
});
