import { randomUUID } from 'node:crypto';
import { reserveBatch } from '@floodgate/registrations';
import { joinWaitingLists, toJoin } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { reservationOf } from '../harness/reservation.ts';
import { startApiProcess } from '../harness/service-process.ts';

const { test, given } = apiTest({ own: 'measures, and must share its Postgres with nobody' });

const ENTRIES = 20_000;
const POLLERS = 32;
const READS = 300;
const CONTACT = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };

test.override('ticket', { capacity: ENTRIES, offerHours: 24 });

const median = (times: number[]) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)]!;

test('32 callers who ask for their places delay the reads of others no more than 32 callers who read registrations', async () => {
  const { db } = given;
  const seats = Array.from({ length: 5_000 }, () => reservationOf(given.gala, given.ticketId));
  for (let sold = 0; sold < ENTRIES; sold += seats.length) await reserveBatch(db, randomUUID(), seats);
  const entries: string[] = [];
  while (entries.length < ENTRIES) {
    const request = { organizedEventTicketID: given.ticketId, contact: CONTACT };
    const joins = Array.from({ length: 1_000 }, () => toJoin(given.gala, request, null));
    entries.push(...(await joinWaitingLists(db, given.gala.shardId, joins, 10_000)).map(({ id }) => id));
  }
  await sql`analyze`.execute(db);
  const api = await startApiProcess({ DATABASE_URL: given.database.url, QUEUE_URL: given.database.url });
  const other = await createFixture(db);
  const [reader, poller] = [other, given.gala].map((one) => new PartnerClient(api.baseUrl, one)) as [
    PartnerClient,
    PartnerClient,
  ];
  const own = await reader.register(attendee(await other.addTicket()));
  const read = async () => {
    const times: number[] = [];
    for (let count = 0; count < READS; count += 1) {
      const since = performance.now();
      await reader.registration(own.body.responseData as string);
      times.push(performance.now() - since);
    }
    return median(times);
  };
  /** Reads while so many callers poll, one call after the other. */
  const readWhile = async (poll: (index: number) => Promise<Answer>) => {
    const over = new AbortController();
    let polls = 0;
    const pollers = Array.from({ length: POLLERS }, async () => {
      while (!over.signal.aborted) expect((await poll((polls += 1))).body.responseCode).toBe('00');
    });
    const ms = await read();
    over.abort();
    await Promise.all(pollers);
    process.stdout.write(`${polls} calls meanwhile\n`);
    return ms;
  };
  await read();
  const calm = await read();
  const reference = await readWhile(() => reader.registration(own.body.responseData as string));
  const loaded = await readWhile((index) =>
    poller.request(`/api/v1/events/waiting-list/${entries[(index * 7) % ENTRIES]}`),
  );
  process.stdout.write(`calm ${calm} ms, registrations ${reference} ms, places ${loaded} ms\n`);
  await api.end();
  expect(loaded).toBeLessThan(2 * reference);
});
