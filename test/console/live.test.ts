import { randomUUID } from 'node:crypto';
import { reserveBatch, type Reservation } from '@floodgate/registrations';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { perform } from '@floodgate/audit';
import { reportProcess, signOutOperatorAction } from '@floodgate/operators';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

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
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      if (!chunk.startsWith('data: ')) continue;
      state.snapshots += 1;
      state.latest = chunk.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    }
  };
  void read()
    .catch(() => {})
    .finally(() => (state.isOver = true));
  return state;
}

const calls = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and application_name = 'floodgate-console' and query like '%tickets%'
      and state_change > now() - interval '1 s'`.execute(given.database.db);
  return rows[0]!.count;
};

test('the figures are those of Postgres, and nobody watching costs no query', async () => {
  const gala = await createFixture(given.database.db);
  const ticketId = await gala.addTicket({ capacity: 100 });
  const { cookie } = await given.addOperator('viewer');
  const live = await watch(gala.eventId, cookie);
  await waitUntil('a snapshot', () => live.snapshots > 0);
  expect(live.latest).toContain('Standing yes 100 0 100');
  await reserveBatch(
    given.database.db,
    randomUUID(),
    Array<Reservation>(3).fill(reservationOf(gala, ticketId)),
  );
  await waitUntil('the new figures', () => live.latest.includes('Standing yes 100 3 97'));
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

test('refused requests and waiting calls are those that the processes report', async () => {
  const gala = await createFixture(given.database.db);
  const { cookie } = await given.addOperator('viewer');
  let refused = 0;
  const report = reportProcess(given.database.db, { service: 'api', version: '1' }, () => ({
    waiting: 7,
    refused: { '32': refused },
  }));
  await report.run();
  const live = await watch(gala.eventId, cookie);
  await waitUntil('a snapshot', () => live.latest.includes('Waiting calls 7'));
  await waitUntil('a rate', async () => {
    refused += 100;
    await report.run();
    return /32 [1-9][\d.]*\/s/.test(live.latest);
  });
  live.leave();
});

test('the sale of a called-off event is not offered to be resumed', async () => {
  const { db } = given.database;
  const { eventId, addTicket } = await createFixture(db);
  await addTicket({ active: false });
  const { cookie } = await given.addOperator('owner');
  const pages = async () => {
    const paths = [`/events/${eventId}`, `/live/${eventId}`];
    const answers = paths.map((path) => given.request(path, { headers: { cookie } }));
    return Promise.all(answers.map(async (answer) => (await answer).text()));
  };
  for (const page of await pages()) {
    expect(page).toMatch(/Resume sale/);
    expect(page).toContain('/do/ticketResumeAll');
  }
  await sql`update events set called_off_at = now() where id = ${eventId}`.execute(db);
  for (const page of await pages()) {
    expect(page).not.toMatch(/Resume sale/);
    expect(page).not.toContain('/do/ticketResumeAll');
    expect(page).toContain('/do/ticketStopAll');
  }
});
