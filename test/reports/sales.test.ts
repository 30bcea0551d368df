import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { formatPassReference } from '@floodgate/contract';
import { updateEventAction } from '@floodgate/events/actions';
import { cancelRegistrationAction, replaceAttendeeAction } from '@floodgate/registrations/actions';
import { reserveBatch } from '@floodgate/registrations';
import { reportOperations, type SalesRow } from '@floodgate/reports/console';
import { InvalidInput } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { COMMAND_LINE } from '@floodgate/operators';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { reservationOf } from '../harness/reservation.ts';

const { test, given } = eventTest();

const ZONE = 'Europe/Berlin';
/** Two days before the clocks go back. */
const START = Temporal.Instant.from('2026-10-23T22:00:00Z');
const DAYS = 4;

/** A seat, as the test has sold it. */
interface Sale {
  ticketId: number;
  soldAt: Temporal.Instant;
  cancelledAt: Temporal.Instant | null;
}

const someTime = (after = START) => {
  const end = START.add({ hours: DAYS * 24 });
  const spanMs = end.epochMilliseconds - after.epochMilliseconds;
  return after.add({ milliseconds: Math.floor(Math.random() * spanMs) });
};

/** Sells seats at random times, some of them cancelled later and some with a changed attendee. */
async function sellAtRandom(seats: number): Promise<Sale[]> {
  const { db, gala } = given;
  const tickets = [await gala.addTicket({ title: 'Standing' }), await gala.addTicket({ title: 'VIP' })];
  const sales: Sale[] = [];
  for (let index = 0; index < seats; index++) {
    const ticketId = tickets[index % 2]!;
    const serial = await sellOne(ticketId);
    const soldAt = someTime();
    await sql`
      update registrations set reserved_at = ${soldAt.toString()}::timestamptz
      where shard_id = ${gala.shardId} and serial = ${serial}`.execute(db);
    const last = index % 5 === 0 ? await changeAttendee(serial) : serial;
    const cancelledAt = index % 3 === 0 ? someTime(soldAt) : null;
    if (cancelledAt) await cancelAt(last, cancelledAt);
    sales.push({ ticketId, soldAt, cancelledAt });
  }
  return sales;
}

async function sellOne(ticketId: number, holdSeconds: number | null = null) {
  const reservation = reservationOf(given.gala, ticketId, { holdSeconds });
  const [outcome] = await reserveBatch(given.db, randomUUID(), [reservation]);
  if (outcome?.kind !== 'registered') throw new Error(`the seat is ${outcome?.kind}`);
  return outcome.serial;
}

async function referenceOf(serial: number) {
  const { shardId, eventId, passPrefix: prefix } = given.gala;
  const { rows } = await sql<{ passCode: number }>`
    select pass_code as "passCode" from registrations
    where shard_id = ${shardId} and serial = ${serial}`.execute(given.db);
  return formatPassReference({ prefix, eventId, serial, passCode: rows[0]!.passCode });
}

async function changeAttendee(serial: number) {
  const passReference = await referenceOf(serial);
  const other = { fullName: 'Eve Later', emailAddress: 'eve@example.com' };
  await perform(given.db, replaceAttendeeAction, { passReference, ...other }, 'test');
  const { rows } = await sql<{ serial: number }>`
    select replaced_by as serial from registrations
    where shard_id = ${given.gala.shardId} and serial = ${serial}`.execute(given.db);
  return rows[0]!.serial;
}

async function cancelAt(serial: number, at: Temporal.Instant) {
  const passReference = await referenceOf(serial);
  await perform(given.db, cancelRegistrationAction, { passReference }, 'test');
  await sql`
    update registrations set cancelled_at = ${at.toString()}::timestamptz
    where shard_id = ${given.gala.shardId} and serial = ${serial}`.execute(given.db);
}

/** The rows of the report, computed from what the test knows. */
function expectedRows(sales: readonly Sale[], by: 'day' | 'hour') {
  const startOf = (instant: Temporal.Instant) => {
    const zoned = instant.toZonedDateTimeISO(ZONE);
    const start =
      by === 'day' ? zoned.startOfDay() : zoned.round({ smallestUnit: 'hour', roundingMode: 'floor' });
    return start.epochMilliseconds;
  };
  const counts = new Map<string, [number, number]>();
  const count = (instant: Temporal.Instant, ticketId: number, kind: 0 | 1) => {
    const key = `${startOf(instant)} ${ticketId}`;
    const both = counts.get(key) ?? [0, 0];
    both[kind] += 1;
    counts.set(key, both);
  };
  for (const { ticketId, soldAt, cancelledAt } of sales) {
    count(soldAt, ticketId, 0);
    if (cancelledAt) count(cancelledAt, ticketId, 1);
  }
  return [...counts].map(([key, both]) => `${key}: ${both.join()}`).toSorted();
}

const rowsOf = (rows: readonly SalesRow[]) =>
  rows
    .map(({ at, ticketId, sold, cancelled }) => `${at.getTime()} ${ticketId}: ${sold},${cancelled}`)
    .toSorted();

const report = async (more: { by?: 'day' | 'hour'; from?: Date; until?: Date } = {}) => {
  const answer = await reportOperations.reportSales(
    given.db,
    { eventId: given.gala.eventId, ...more },
    COMMAND_LINE,
  );
  if (answer instanceof Response) throw new Error('a document was asked for');
  return answer;
};

test('sales and cancellations are counted in days and hours of the zone, also while the clocks go back', async () => {
  await perform(given.db, updateEventAction, { eventId: given.gala.eventId, timeZone: ZONE }, 'test');
  const sales = await sellAtRandom(60);
  const { rows, timeZone } = await report();
  expect(timeZone).toBe(ZONE);
  expect(rows[0]).toMatchObject({ ticket: expect.any(String), partnerId: given.gala.partnerId });
  expect(rowsOf(rows)).toEqual(expectedRows(sales, 'day'));
  expect(rowsOf((await report({ by: 'hour' })).rows)).toEqual(expectedRows(sales, 'hour'));
});

test('a period counts what was sold and what was cancelled within it', async () => {
  const sales = await sellAtRandom(20);
  const [from, until] = [24, 60].map((hours) => START.add({ hours })) as [Temporal.Instant, Temporal.Instant];
  const isIn = (instant: Temporal.Instant | null) =>
    instant !== null &&
    Temporal.Instant.compare(instant, from) >= 0 &&
    Temporal.Instant.compare(instant, until) < 0;
  const bounds = [from, until].map((instant) => new Date(instant.epochMilliseconds)) as [Date, Date];
  const { rows } = await report({ from: bounds[0], until: bounds[1] });
  const sum = (field: 'sold' | 'cancelled') => rows.reduce((total, row) => total + row[field], 0);
  expect(sum('sold')).toBe(sales.filter(({ soldAt }) => isIn(soldAt)).length);
  expect(sum('cancelled')).toBe(sales.filter(({ cancelledAt }) => isIn(cancelledAt)).length);
  await expect(report({ from: bounds[1], until: bounds[0] })).rejects.toThrow(InvalidInput);
});

test('a hold is no sale, whether it is open or has ended', async () => {
  const ticketId = await given.gala.addTicket();
  await sellOne(ticketId);
  const [, ended] = [await sellOne(ticketId, 600), await sellOne(ticketId, 600)];
  await cancelAt(ended, someTime());
  const { rows } = await report();
  expect(rows.map(({ sold, cancelled }) => [sold, cancelled])).toEqual([[1, 0]]);
});

test('for spreadsheets: names of the fields, quoted texts, a byte order mark on demand', async () => {
  const ticketId = await given.gala.addTicket({ title: 'Standing; "first" row' });
  await sellOne(ticketId);
  const operation = reportOperations.reportSales;
  const file = await operation(
    given.db,
    {
      eventId: given.gala.eventId,
      format: 'excel',
      separator: 'semicolon',
    },
    COMMAND_LINE,
  );
  if (!(file instanceof Response)) throw new Error('a file was asked for');
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  const [head, row] = bytes.toString('utf8', 3).split('\r\n');
  expect(head).toBe('"at";"ticketId";"ticket";"partnerId";"partner";"sold";"cancelled"');
  expect(row).toContain(`;${ticketId};"Standing; ""first"" row";`);
  expect(row).toMatch(/;1;0$/);
});
