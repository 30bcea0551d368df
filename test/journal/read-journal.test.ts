import { randomUUID } from 'node:crypto';
import { deleteOldSegments, readJournal, type JournalEntry } from '@floodgate/journal';
import { confirmBatches, failBatch, redriveBatches, reserveBatch } from '@floodgate/registrations';
import { perform, updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';

// The one way into the history of what became of registrations.

let database: TestDatabase;
let fixture: Fixture;
let ticketId: number;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  fixture = await createFixture(database.db);
  ticketId = await fixture.addTicket({ capacity: 100_000 });
});

/** Commits a batch of so many registrations, by turns for these fixtures' partners. Returns its id and all serials. */
async function commit(size: number, partners: Fixture[] = [fixture]) {
  const batchId = randomUUID();
  const reservations = Array.from({ length: size }, (_, index) =>
    reservationOf({ ...fixture, partnerId: partners[index % partners.length]!.partnerId }, ticketId),
  );
  const outcomes = await reserveBatch(database.db, batchId, reservations);
  const serials = outcomes.map((outcome) => (outcome.kind === 'registered' ? outcome.serial : 0));
  return { batchId, serials };
}

const confirm = (...batchIds: string[]) =>
  confirmBatches(database.db, { shardId: fixture.shardId, batchIds });

const read = (after = 0, limit = 100, of: Partial<Fixture> = fixture) =>
  readJournal(database.db, { ...fixture, ...of }, after, limit);

const serialsOf = (entries: readonly JournalEntry[]) => entries.map(({ serial }) => serial);

/** Reads to the end, in pages of these sizes by turns. */
async function readAll(limits: number[], of: Partial<Fixture> = fixture): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let cursor = 0, turn = 0; ; turn++) {
    const limit = limits[turn % limits.length]!;
    const page = await read(cursor, limit, of);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    entries.push(...page.entries);
    cursor = page.cursor;
    if (!page.more) return entries;
  }
}

test('an empty history has a first page, and its cursor leads on', async () => {
  expect(await read()).toEqual({ entries: [], cursor: 0, more: false });
  const { batchId, serials } = await commit(3);
  expect(await read()).toEqual({ entries: [], cursor: 0, more: false });
  await confirm(batchId);
  const page = await read();
  expect(serialsOf(page.entries)).toEqual(serials);
  expect(new Set(page.entries.map(({ kind, ticketId: ticket }) => `${kind} ${ticket}`))).toEqual(
    new Set(['confirmed null']),
  );
  expect(await read(page.cursor)).toEqual({ entries: [], cursor: page.cursor, more: false });
});

test.for([[[1]], [[2]], [[3, 1, 7]], [[1_000]]])(
  'pages of %j hold everything once, in order',
  async ([limits]) => {
    const batches = [await commit(5), await commit(1), await commit(8)];
    for (const { batchId } of batches) await confirm(batchId);
    const entries = await readAll(limits!);
    expect(serialsOf(entries)).toEqual(batches.flatMap(({ serials }) => serials));
    const offsets = entries.map(({ offset }) => offset);
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
  },
);

test('each partner reads its own, whoever else was in the batch', async () => {
  const other = await createFixture(database.db);
  const { batchId, serials } = await commit(9, [fixture, other, other]);
  await confirm(batchId);
  const mine = serials.filter((_, index) => index % 3 === 0);
  for (const limits of [[1], [2], [100]]) {
    expect(serialsOf(await readAll(limits))).toEqual(mine);
    const theirs = await readAll(limits, { partnerId: other.partnerId });
    expect(serialsOf(theirs)).toEqual(serials.filter((serial) => !mine.includes(serial)));
  }
});

test('batches that are finalized together are all there, however their serials lie', async () => {
  const other = await createFixture(database.db);
  const batches = [await commit(4, [fixture, other]), await commit(6), await commit(5, [other, fixture])];
  await confirm(...batches.map(({ batchId }) => batchId).toReversed());
  const entries = await readAll([2]);
  const expected = [...batches[0]!.serials, ...batches[1]!.serials, ...batches[2]!.serials].filter(
    (serial) => !serialsOfOther(batches, serial),
  );
  expect(new Set(serialsOf(entries))).toEqual(new Set(expected));
  expect(entries).toHaveLength(expected.length);
});

/** In the first batch every second registration is the other's, in the last the first, third and fifth. */
function serialsOfOther(batches: { serials: number[] }[], serial: number): boolean {
  const first = batches[0]!.serials.indexOf(serial);
  const last = batches[2]!.serials.indexOf(serial);
  return first % 2 === 1 || (last >= 0 && last % 2 === 0);
}

test('what is finalized twice is there once', async () => {
  const { batchId, serials } = await commit(2);
  await Promise.all([confirm(batchId), confirm(batchId), confirm(batchId)]);
  expect(serialsOf(await readAll([10]))).toEqual(serials);
});

test('what failed is told of, and again when it was redriven and confirmed', async () => {
  const { batchId, serials } = await commit(2);
  expect(await failBatch(database.db, fixture.shardId, batchId, '23514')).toBe(true);
  await redriveBatches(database.db, { batchId, limit: 1 });
  await confirm(batchId);
  const entries = await readAll([10]);
  expect(entries.map(({ kind, serial }) => [kind, serial])).toEqual([
    ...serials.map((serial) => ['failed', serial]),
    ...serials.map((serial) => ['confirmed', serial]),
  ]);
  const filtered = await read(0, 100, { kinds: ['failed'] } as Partial<Fixture>);
  expect(serialsOf(filtered.entries)).toEqual(serials);
});

test('a ticket that is sold out is told of after the registration that took the last seat', async () => {
  const small = await fixture.addTicket({ capacity: 2 });
  const batchId = randomUUID();
  await reserveBatch(
    database.db,
    batchId,
    [1, 2, 3].map(() => reservationOf(fixture, small)),
  );
  await confirm(batchId);
  const [, last] = await readAll([10]);
  const [soldOut, ...others] = await readAll([10], { partnerId: 0 });
  expect(others).toEqual([]);
  expect(soldOut).toMatchObject({
    kind: 'sold_out',
    ticketId: small,
    serial: null,
    offset: last!.offset + 1,
  });
});

test('a ticket that gets seats again is told of, unless nobody was told that it was sold out', async () => {
  const small = await fixture.addTicket({ capacity: 1 });
  const sellOut = async () => {
    const batchId = randomUUID();
    await reserveBatch(database.db, batchId, [reservationOf(fixture, small)]);
    return batchId;
  };
  const raiseTo = (capacity: number) =>
    perform(database.db, updateTicketAction, { ticketId: small, capacity }, 'test');
  const told = async () =>
    (await readAll([1], { partnerId: 0 })).map(({ kind, ticketId: id }) => `${kind} ${id}`);
  await confirm(await sellOut());
  await raiseTo(2);
  expect(await told()).toEqual([`sold_out ${small}`, `reopened ${small}`]);
  const untold = await sellOut();
  await raiseTo(3);
  await confirm(untold);
  expect(await told()).toHaveLength(2);
  await confirm(await sellOut());
  expect(await told()).toHaveLength(3);
  await raiseTo(3);
  expect(await told()).toHaveLength(3);
});

/** What was told of a ticket, in order. */
const toldOf = async (small: number) =>
  (await readAll([1], { partnerId: 0 })).flatMap(({ kind, ticketId: id }) => (id === small ? kind : []));

const setCapacity = (small: number, capacity: number) =>
  perform(database.db, updateTicketAction, { ticketId: small, capacity }, 'test');

/** Takes the last seat of a ticket. */
async function takeLastSeat(small: number): Promise<string> {
  const batchId = randomUUID();
  const [outcome] = await reserveBatch(database.db, batchId, [reservationOf(fixture, small)]);
  expect(outcome!.kind).toBe('registered');
  return batchId;
}

test('an operator who leaves a ticket no seats is told of too, so that sold out and reopened alternate', async () => {
  const small = await fixture.addTicket({ capacity: 0 });
  // It never had any: nobody waits for it to come back.
  await setCapacity(small, 5);
  expect(await toldOf(small)).toEqual([]);
  await setCapacity(small, 0);
  await setCapacity(small, 0);
  expect(await toldOf(small)).toEqual(['sold_out']);
  await setCapacity(small, 1);
  await setCapacity(small, 2);
  expect(await toldOf(small)).toEqual(['sold_out', 'reopened']);
  await confirm(await takeLastSeat(small));
  await setCapacity(small, 1);
  expect(await toldOf(small)).toEqual(['sold_out', 'reopened', 'sold_out']);
});

test('a ticket that the release before sold out, or gave seats, is not told of twice', async () => {
  const [before, after] = [
    await fixture.addTicket({ capacity: 1 }),
    await fixture.addTicket({ capacity: 1 }),
  ];
  // It notes neither.
  await sql`update tickets set taken = 1 where id = ${before}`.execute(database.db);
  await setCapacity(before, 2);
  expect(await toldOf(before)).toEqual([]);
  await confirm(await takeLastSeat(after));
  await sql`update tickets set capacity = 2 where id = ${after}`.execute(database.db);
  await confirm(await takeLastSeat(after));
  expect(await toldOf(after)).toEqual(['sold_out']);
  await setCapacity(after, 3);
  expect(await toldOf(after)).toEqual(['sold_out', 'reopened']);
});

test('what was told last of a ticket outlives the rest of the journal', async () => {
  const small = await fixture.addTicket({ capacity: 1 });
  await confirm(await takeLastSeat(small));
  await setCapacity(small, 2);
  await confirm(await takeLastSeat(small));
  await sql`update journal_segments set at = now() - interval '3 d'`.execute(database.db);
  expect(await deleteOldSegments(database.db, fixture.shardId, 1, 1_000)).toBeGreaterThan(0);
  expect(await readAll([10])).toEqual([]);
  expect(await toldOf(small)).toEqual(['sold_out']);
  await setCapacity(small, 3);
  expect(await toldOf(small)).toEqual(['sold_out', 'reopened']);
});

test('who was cancelled before the confirmation is not confirmed', async () => {
  const { batchId, serials } = await commit(3);
  await sql`update registrations set cancelled_at = now() where serial = ${serials[1]}`.execute(database.db);
  await confirm(batchId);
  expect(serialsOf(await readAll([1]))).toEqual([serials[0], serials[2]]);
});

describe('a reader that crashes, late commits and two workers', () => {
  test('nothing is skipped, nothing comes twice past a saved cursor, and the order is kept', async () => {
    const expected = new Set<number>();
    const pending: string[] = [];
    const writing = { isOver: false };

    /** Commits batches; every third one late, after others with higher serials. */
    const write = async () => {
      for (let round = 0; round < 60; round++) {
        const late = await database.db.startTransaction().execute();
        const serialsOfLate = (
          await reserveBatch(late, randomUUID(), [reservationOf(fixture, await fixture.addTicket())])
        ).map((outcome) => (outcome.kind === 'registered' ? outcome.serial : 0));
        const { rows } = await sql<{
          id: string;
        }>`select id from batches order by last_serial desc limit 1`.execute(late);
        for (const size of [1, 3]) {
          const { batchId, serials } = await commit(size);
          serials.forEach((serial) => expected.add(serial));
          pending.push(batchId);
        }
        await late.commit().execute();
        serialsOfLate.forEach((serial) => expected.add(serial));
        pending.push(rows[0]!.id);
      }
      writing.isOver = true;
    };
    /** Finalizes what is there, a few at a time; both workers may be told of the same batch. */
    const work = async () => {
      while (!writing.isOver || pending.length > 0) {
        const told = pending.slice(0, 1 + Math.floor(Math.random() * 4));
        if (told.length > 0) await confirm(...told);
        for (const id of told) if (pending.includes(id)) pending.splice(pending.indexOf(id), 1);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    /** Reads on and on. Where it "crashes", what it read since its last saved cursor is forgotten. */
    const readOn = async () => {
      const kept: JournalEntry[] = [];
      let saved = 0;
      let isLast = false;
      while (!isLast) {
        isLast = writing.isOver && pending.length === 0;
        const page = await read(saved, 1 + Math.floor(Math.random() * 9));
        if (!isLast && Math.random() < 0.3) continue;
        isLast &&= !page.more;
        kept.push(...page.entries);
        saved = page.cursor;
      }
      return kept;
    };
    const [, , , ...readers] = await Promise.all([write(), work(), work(), readOn(), readOn(), readOn()]);
    for (const entries of readers) {
      expect(entries).toHaveLength(expected.size);
      expect(new Set(serialsOf(entries))).toEqual(expected);
      const offsets = entries.map(({ offset }) => offset);
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
    }
    expect(expected.size).toBe(300);
  });
});
