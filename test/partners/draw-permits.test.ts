import { type Database } from '@floodgate/database';
import { drawPermits as drawFrom } from '@floodgate/database/limits/quota-lease';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { createFixture } from '../harness/fixture.ts';

const { test, given } = eventTest({ own: 'counts permits that other files draw as well' });

/** Draws as the rate limit of a partner does. */
const drawPermits = (db: Database, id: number, wanted: number) =>
  drawFrom(db, 'rate_limit_windows', id, wanted);

/** In a transaction Postgres's clock stands still: all draws of `work` fall into one second. */
const withinOneSecond = (work: (db: Database) => Promise<void>) =>
  given.database.db.transaction().execute((transaction) => work(transaction));

/** As if the last draw had been made that many seconds from now. */
const shiftLastDraw = (db: Database, seconds: number) =>
  sql`update rate_limit_windows set epoch_second = epoch_second + ${seconds}
    where id = ${given.gala.partnerId}`.execute(db);

test('draws of a second add up, each partner for itself', () =>
  withinOneSecond(async (db) => {
    const { partnerId: other } = await createFixture(db);
    expect(await drawPermits(db, given.gala.partnerId, 5)).toMatchObject({ drawnBefore: 0 });
    expect(await drawPermits(db, given.gala.partnerId, 1)).toMatchObject({ drawnBefore: 5 });
    expect(await drawPermits(db, other, 7)).toMatchObject({ drawnBefore: 0 });
    expect(await drawPermits(db, given.gala.partnerId, 2)).toMatchObject({ drawnBefore: 6 });
  }));

test('a draw tells how long its second lasts', () =>
  withinOneSecond(async (db) => {
    const { rows } = await sql<{ ms: number }>`
      select 1000 - 1000 * (extract(epoch from now()) % 1) as ms`.execute(db);
    for (const _ of [1, 2])
      expect((await drawPermits(db, given.gala.partnerId, 1)).endsInMs).toBeCloseTo(rows[0]!.ms, 3);
  }));

test.each([
  ['the second is over', -1],
  ['it was long ago', -100],
  ['the clock stepped back', 2],
  ['the clock stepped far back', 86_400],
])('the count begins anew where %s', (_, seconds) =>
  withinOneSecond(async (db) => {
    await drawPermits(db, given.gala.partnerId, 100);
    await shiftLastDraw(db, seconds);
    const draw = await drawPermits(db, given.gala.partnerId, 3);
    expect(draw.drawnBefore).toBe(0);
    expect(draw.endsInMs).toBeLessThanOrEqual(1_000);
    expect(await drawPermits(db, given.gala.partnerId, 1)).toMatchObject({ drawnBefore: 3 });
  }),
);

test('a draw that was overtaken by one of the next second takes part in that', () =>
  withinOneSecond(async (db) => {
    await drawPermits(db, given.gala.partnerId, 100);
    await shiftLastDraw(db, 1);
    const draw = await drawPermits(db, given.gala.partnerId, 3);
    expect(draw.drawnBefore).toBe(100);
    expect(draw.endsInMs).toBeGreaterThan(1_000);
    expect(draw.endsInMs).toBeLessThanOrEqual(2_000);
  }));

test('no permit is drawn twice by draws at the same time', async () => {
  const second = async () => {
    const { rows } = await sql<{ second: number }>`
      select floor(extract(epoch from clock_timestamp()))::float8 as second`.execute(given.database.db);
    return rows[0]!.second;
  };
  const before = await second();
  const draws = await Promise.all(
    Array.from({ length: 40 }, () => drawPermits(given.database.db, given.gala.partnerId, 1)),
  );
  const seconds = (await second()) - before + 1;
  // In each second the draws count from 0, without a gap and without a repetition.
  const counts = Map.groupBy(draws, ({ drawnBefore }) => drawnBefore);
  const timesOf = (drawnBefore: number) => counts.get(drawnBefore)?.length ?? 0;
  expect(timesOf(0)).toBeLessThanOrEqual(seconds);
  for (let drawnBefore = 1; drawnBefore < 40; drawnBefore += 1)
    expect(timesOf(drawnBefore)).toBeLessThanOrEqual(timesOf(drawnBefore - 1));
});
