import type { Language } from '@floodgate/database';
import { listEvents } from '@floodgate/events';
import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = databaseTest();

let eventId: number;

test.beforeAll(async () => {
  ({ eventId } = await createFixture(given.database.db));
});

const describeEvent = (...options: string[]) =>
  runCli(
    { DATABASE_URL: given.database.url },
    'event',
    'update',
    String(eventId),
    ...options,
    '--by',
    'jane',
  );
const stored = async () => (await listEvents(given.database.db)).find(({ id }) => id === eventId)!;

test('an operator says when, where and in which language; what is not given stays, and "none" takes it away', async () => {
  expect(await stored()).toMatchObject({ startsAt: null, venue: null, language: 'en', replyTo: null });
  const times = ['--starts', '2026-12-01T19:00:00+01:00', '--ends', '2026-12-01T23:00:00+01:00'];
  const place = ['--venue', 'Old Town Hall', '--time-zone', 'Europe/Berlin'];
  const { code, output } = await describeEvent(...times, ...place, '--language', 'de');
  expect([code, output]).toEqual([0, expect.stringMatching(/starts +2026-12-01T18:00:00Z\n/)]);
  expect((await describeEvent('--reply-to', 'gala@floodgate.test')).code).toBe(0);
  expect(await stored()).toMatchObject({
    startsAt: new Date('2026-12-01T18:00:00Z'),
    endsAt: new Date('2026-12-01T22:00:00Z'),
    venue: 'Old Town Hall',
    timeZone: 'Europe/Berlin',
    language: 'de',
    replyTo: 'gala@floodgate.test',
  });
  expect((await describeEvent('--reply-to', 'none', '--venue', 'none')).code).toBe(0);
  expect(await stored()).toMatchObject({ venue: null, replyTo: null, language: 'de' });
  const { rows } = await sql<{ actor: string; before: { venue: string }; after: { venue: null } }>`
    select actor, before, after from audit_log where action = 'event.update' order by id desc limit 1`.execute(
    given.database.db,
  );
  expect(rows[0]).toMatchObject({
    actor: 'jane',
    before: { venue: 'Old Town Hall' },
    after: { venue: null },
  });
});

test.for([
  [[], 2, 'nothing to change'],
  [['--starts', 'tomorrow'], 2, 'Expected a time'],
  [['--time-zone', 'Europe/Gotham'], 2, '--time-zone: a time zone such as Europe/Berlin, or none'],
  [['--time-zone', '+01:00'], 2, '--time-zone: a time zone such as Europe/Berlin, or none'],
  [['--language', 'tlh'], 2, 'language: en or de'],
  [['--reply-to', 'nobody'], 2, '--reply-to: an e-mail address, or none'],
  [['--venue', ''], 2, 'venue: 1 to 255 characters, or none'],
  [['--starts', '2026-12-09T00:00:00Z', '--ends', '2026-12-08T00:00:00Z'], 1, 'must start before it ends'],
] as const)('%o is refused', async ([options, code, reason]) => {
  const before = await stored();
  expect(await describeEvent(...options)).toEqual({
    code,
    output: expect.stringContaining(reason) as string,
  });
  expect(await stored()).toEqual(before);
});

test('two who set one border each cannot make an event end before it starts', async () => {
  const { db } = given.database;
  const change = (
    on: typeof db,
    details: { startsAt?: Date | null; endsAt?: Date | null; language?: Language },
  ) => perform(on, updateEventAction, { eventId, ...details }, 'jane');
  await change(db, { startsAt: new Date('2026-12-01Z'), endsAt: new Date('2026-12-31Z') });
  const first = await db.startTransaction().execute();
  await change(first, { startsAt: new Date('2026-12-20Z') });
  const second = change(db, { endsAt: new Date('2026-12-10Z') });
  await waitForLockWaiters(db, 1);
  await first.commit().execute();
  await expect(second).rejects.toThrow('the event must start before it ends');
});

test('no such event is said so', async () => {
  const { code, output } = await runCli(
    { DATABASE_URL: given.database.url },
    'event',
    'update',
    '999999',
    '--language',
    'en',
  );
  expect([code, output]).toEqual([1, expect.stringContaining('no such event')]);
});
