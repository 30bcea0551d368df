import { randomUUID } from 'node:crypto';
import {
  deleteOldSegments,
  readJournal,
  type JournalEntry,
  type JournalFilter,
  type JournalPage,
} from '@floodgate/journal';
import { confirmBatches, failBatch, redriveBatches, reserveBatch } from '@floodgate/registrations';
import { perform } from '@floodgate/audit';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { beforeEach, describe, expect, inject, onTestFinished } from 'vitest';
import type { TestDatabase } from '../harness/database.ts';
import { eventTest } from '../harness/event-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';
import { rowsRead as countRowsRead } from '../harness/rows-read.ts';

const { test, given } = eventTest({ own: 'counts, empties or compares whole tables' });

// The one way into the history of what became of registrations.

test.override('ticket', { capacity: 100_000 });

/** Commits a batch of so many registrations, by turns for these fixtures' partners. Returns its id and all serials. */
async function commit(size: number, partners: Fixture[] = [given.gala]) {
  const batchId = randomUUID();
  const reservations = Array.from({ length: size }, (_, index) =>
    reservationOf({ ...given.gala, partnerId: partners[index % partners.length]!.partnerId }, given.ticketId),
  );
  const outcomes = await reserveBatch(given.database.db, batchId, reservations);
  const serials = outcomes.map((outcome) => (outcome.kind === 'registered' ? outcome.serial : 0));
  return { batchId, serials };
}

const confirm = (...batchIds: string[]) =>
  confirmBatches(given.database.db, { shardId: given.gala.shardId, batchIds });

const readAnswer = (after: number, limit: number, of: Partial<JournalFilter>, db = given.database.db) => {
  const { shardId, eventId, partnerId } = given.gala;
  return readJournal(db, { shardId, eventId, partnerId, ...of }, after, limit);
};

async function read(after = 0, limit = 100, of: Partial<JournalFilter> = {}, db = given.database.db) {
  const page = await readAnswer(after, limit, of, db);
  if (typeof page === 'string') throw new Error(page);
  return page;
}

const serialsOf = (entries: readonly JournalEntry[]) => entries.map(({ serial }) => serial);

/** Reads to the end, in pages of these sizes by turns. */
async function readAll(limits: number[], of: Partial<JournalFilter> = {}): Promise<JournalEntry[]> {
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
  const other = await createFixture(given.database.db);
  const { batchId, serials } = await commit(9, [given.gala, other, other]);
  await confirm(batchId);
  const mine = serials.filter((_, index) => index % 3 === 0);
  for (const limits of [[1], [2], [100]]) {
    expect(serialsOf(await readAll(limits))).toEqual(mine);
    const theirs = await readAll(limits, { partnerId: other.partnerId });
    expect(serialsOf(theirs)).toEqual(serials.filter((serial) => !mine.includes(serial)));
  }
});

test('batches that are finalized together are all there, however their serials lie', async () => {
  const other = await createFixture(given.database.db);
  const batches = [
    await commit(4, [given.gala, other]),
    await commit(6),
    await commit(5, [other, given.gala]),
  ];
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

test('a long list of serials is written in parts, and serials that follow each other as one', async () => {
  const other = await createFixture(given.database.db);
  const mixed = await commit(4_600, [given.gala, other]);
  await confirm(mixed.batchId);
  const following = await commit(2_300);
  await confirm(following.batchId);
  const { rows } = await sql<{ count: number; first: number; last: number }>`
    select count, first_serial as first, last_serial as last from journal_segments
    where event_id = ${given.gala.eventId} and partner_id = ${given.gala.partnerId}
    order by last_offset`.execute(given.database.db);
  const mine = mixed.serials.filter((_, index) => index % 2 === 0);
  expect(rows).toEqual([
    { count: 1_000, first: mine[0], last: mine[999] },
    { count: 1_000, first: mine[1_000], last: mine[1_999] },
    { count: 300, first: mine[2_000], last: mine[2_299] },
    { count: 2_300, first: following.serials[0], last: following.serials[2_299] },
  ]);
  for (const limit of [700, 1_000])
    expect(serialsOf(await readAll([limit]))).toEqual([...mine, ...following.serials]);
  const theirs = await readAll([999], { partnerId: other.partnerId });
  expect(serialsOf(theirs)).toEqual(mixed.serials.filter((_, index) => index % 2 === 1));
});

test('what is finalized twice is there once', async () => {
  const { batchId, serials } = await commit(2);
  await Promise.all([confirm(batchId), confirm(batchId), confirm(batchId)]);
  expect(serialsOf(await readAll([10]))).toEqual(serials);
});

test('what failed is told of, and again when it was redriven and confirmed', async () => {
  const { batchId, serials } = await commit(2);
  expect(await failBatch(given.database.db, given.gala.shardId, batchId, '23514')).toBe(true);
  await redriveBatches(given.database.db, { shardId: given.gala.shardId, batchIds: [batchId], limit: 1 });
  await confirm(batchId);
  const entries = await readAll([10]);
  expect(entries.map(({ kind, serial }) => [kind, serial])).toEqual([
    ...serials.map((serial) => ['failed', serial]),
    ...serials.map((serial) => ['confirmed', serial]),
  ]);
  const filtered = await read(0, 100, { kinds: ['failed'] });
  expect(serialsOf(filtered.entries)).toEqual(serials);
});

test('a ticket that is sold out is told of after the registration that took the last seat', async () => {
  const small = await given.gala.addTicket({ capacity: 2 });
  const batchId = randomUUID();
  await reserveBatch(
    given.database.db,
    batchId,
    [1, 2, 3].map(() => reservationOf(given.gala, small)),
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
  const small = await given.gala.addTicket({ capacity: 1 });
  const sellOut = async () => {
    const batchId = randomUUID();
    await reserveBatch(given.database.db, batchId, [reservationOf(given.gala, small)]);
    return batchId;
  };
  const raiseTo = (capacity: number) => setCapacity(small, capacity);
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

async function setCapacity(small: number, capacity: number): Promise<void> {
  await perform(given.database.db, updateTicketAction, { ticketId: small, capacity }, 'test');
  await confirm();
}

/** Takes the last seat of a ticket. */
async function takeLastSeat(small: number): Promise<string> {
  const batchId = randomUUID();
  const [outcome] = await reserveBatch(given.database.db, batchId, [reservationOf(given.gala, small)]);
  expect(outcome!.kind).toBe('registered');
  return batchId;
}

test('an operator who leaves a ticket no seats is told of too, so that sold out and reopened alternate', async () => {
  const small = await given.gala.addTicket({ capacity: 0 });
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

test('a ticket that was sold out longer ago than the journal is kept is told of when it has seats again', async () => {
  const small = await given.gala.addTicket({ capacity: 1 });
  await confirm(await takeLastSeat(small));
  await setCapacity(small, 2);
  await confirm(await takeLastSeat(small));
  await sql`update journal_segments set at = now() - interval '3 d'`.execute(given.database.db);
  expect(await deleteOldSegments(given.database.db, given.gala.shardId, 1, 1_000)).toBeGreaterThan(0);
  expect(await readAll([10])).toEqual([]);
  expect(await toldOf(small)).toEqual([]);
  await setCapacity(small, 3);
  expect(await toldOf(small)).toEqual(['reopened']);
});

test('who was cancelled before the confirmation is not confirmed', async () => {
  const { batchId, serials } = await commit(3);
  await sql`update registrations set cancelled_at = now() where serial = ${serials[1]}`.execute(
    given.database.db,
  );
  // Its registrations have to be looked at from now on.
  await sql`update batches set event_id = null where id = ${batchId}`.execute(given.database.db);
  await confirm(batchId);
  expect(serialsOf(await readAll([1]))).toEqual([serials[0], serials[2]]);
});

/** Appends segments of so many entries each, by turns of these partners. Returns the offset before them. */
async function append(
  sizes: number[],
  partners: number[],
  { kind = 'confirmed', daysAgo = 0, lists = false } = {},
) {
  const { rows } = await sql<{ head: number }>`
    select last_offset as head from journal_heads where shard_id = ${given.gala.shardId}`.execute(
    given.database.db,
  );
  const { head } = rows[0]!;
  await sql`
    with segment as (
      select place, size, sum(size) over (order by place) as until
      from unnest(${sizes}::integer[]) with ordinality as _ (size, place)
    ),
    written as (
      insert into journal_segments (
        shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, serials, at
      )
      select ${given.gala.shardId}, ${given.gala.eventId}, (${partners}::integer[])[1 + (place - 1) % ${partners.length}],
        ${head} + until, size, ${kind}, ${head} + until - size + 1, ${head} + until,
        case when ${lists} then array(select generate_series(${head} + until - size + 1, ${head} + until)) end,
        now() - make_interval(days => ${daysAgo}::integer)
      from segment
    )
    update journal_heads set last_offset = ${head} + (select sum(size) from segment)
    where shard_id = ${given.gala.shardId}`.execute(given.database.db);
  // So that Postgres knows of them, as autovacuum sees to.
  await sql`analyze journal_segments`.execute(given.database.db);
  return head;
}

const offsetsOf = (entries: readonly JournalEntry[]) => entries.map(({ offset }) => offset);
const times = (count: number, size = 1) => Array<number>(count).fill(size);

const rowsRead = (work: (db: TestDatabase['db']) => Promise<unknown>, table?: string) =>
  countRowsRead(given.database.url, work, table);

describe('a batch of several events and partners', () => {
  let owners: Fixture[];

  beforeEach(async () => {
    let other: Fixture;
    do other = await createFixture(given.database.db);
    while (other.shardId !== given.gala.shardId);
    owners = [given.gala, other].flatMap((event) =>
      [given.gala, other].map(({ partnerId }) => ({ ...event, partnerId })),
    );
  });

  /** Commits registrations of these owners. Returns the batch's id, and what the journal is to tell of it. */
  async function commitOf(of: Fixture[]) {
    const batchId = randomUUID();
    const tickets = new Map<number, number>();
    for (const { eventId, addTicket } of owners)
      if (!tickets.has(eventId)) tickets.set(eventId, await addTicket({ capacity: 100 }));
    const outcomes = await reserveBatch(
      given.database.db,
      batchId,
      of.map((owner) => reservationOf(owner, tickets.get(owner.eventId)!)),
    );
    const told = outcomes.map((outcome, index) => ({
      ...ownerOf(of[index]!),
      serial: outcome.kind === 'registered' ? outcome.serial : 0,
    }));
    return { batchId, told };
  }

  const ownerOf = ({ eventId, partnerId }: { eventId: number; partnerId: number }) => ({
    eventId,
    partnerId,
  });

  async function expectTold(told: { eventId: number; partnerId: number; serial: number | null }[]) {
    for (const owner of owners) {
      const entries = await readAll([2], ownerOf(owner));
      const isOwners = (of: typeof owner | (typeof told)[number]) =>
        of.eventId === owner.eventId && of.partnerId === owner.partnerId;
      expect(entries.map((entry) => ({ ...ownerOf(entry), serial: entry.serial }))).toEqual(
        told.filter(isOwners),
      );
    }
  }

  async function leaveGaps(apart: number) {
    const setStep = (step: number) =>
      sql`alter sequence registrations_serial_seq increment by ${sql.lit(step)}`.execute(given.database.db);
    await setStep(apart);
    onTestFinished(async () => void (await setStep(1)));
  }

  const readsOfRegistrations = (...batchIds: string[]) =>
    rowsRead((db) => confirmBatches(db, { shardId: given.gala.shardId, batchIds }), 'registrations');

  test.for([1, 2])(
    'its registrations say whose each is, and each is read once, with serials %i apart',
    async (apart, { skip }) => {
      skip(apart > 1 && inject('engine') === 'citus', 'Citus changes no sequence');
      if (apart > 1) await leaveGaps(apart);
      const [a, b, c, d] = owners as [Fixture, Fixture, Fixture, Fixture];
      const batches = [
        await commitOf([a, b, c, d, d, c, a, a]),
        await commitOf([a, b, a]),
        await commitOf([d, b, d]),
        await commitOf([c, c]),
      ];
      const batchIds = batches.map(({ batchId }) => batchId).toReversed();
      // Each server of a cluster counts its own.
      if (inject('engine') === 'citus') await confirm(...batchIds);
      else expect(await readsOfRegistrations(...batchIds)).toBe(8 + 3 + 3 + 2);
      await expectTold(batches.flatMap(({ told }) => told));
    },
  );

  test('a registration that was cancelled is left out', async () => {
    const [a, b, , d] = owners as [Fixture, Fixture, Fixture, Fixture];
    const [cancelled, other] = [await commitOf([a, b, d, b]), await commitOf([d, a])];
    await sql`
      update registrations set cancelled_at = now() where serial = ${cancelled.told[1]!.serial}`.execute(
      given.database.db,
    );
    await confirm(cancelled.batchId, other.batchId);
    await expectTold([...cancelled.told.toSpliced(1, 1), ...other.told]);
  });
});

describe('who reads more than one partner', () => {
  test('an event is read whole, in order, with the entries of every partner and its own', async () => {
    const [mine, theirs] = [given.gala.partnerId, given.gala.partnerId + 1_000];
    const start = await append([3, 1, 4, 1, 5, 9], [mine, theirs, 0]);
    const offsets = Array.from({ length: 23 }, (_, index) => start + 1 + index);
    const owners = [...times(3, mine), theirs, ...times(4, 0), mine, ...times(5, theirs), ...times(9, 0)];
    for (const limits of [[1], [2, 7], [100]]) {
      const entries = await readAll(limits, { partnerId: undefined });
      expect(offsetsOf(entries)).toEqual(offsets);
      expect(entries.map(({ partnerId }) => partnerId)).toEqual(owners);
    }
    const firsts = await read(0, 100, { partnerId: theirs });
    expect(offsetsOf(firsts.entries)).toEqual([4, 10, 11, 12, 13, 14].map((offset) => start + offset));
  });
});

describe('what a page costs', () => {
  test('a partner reads no more than twice what it is given, and a look ahead, whoever else has written', async () => {
    const others = [given.gala.partnerId + 1, given.gala.partnerId + 2];
    await append(times(20_000), others);
    const start = await append(times(2_000), [given.gala.partnerId, ...others]);
    for (const limit of [1, 10, 100]) {
      const reading = await rowsRead((db) =>
        readJournal(db, { ...given.gala, kinds: ['confirmed'] }, start, limit),
      );
      expect(reading).toBeLessThan(2 * limit + 30);
    }
    // Few large segments do not cost more than many small ones.
    await append(times(3_000, 1_000), [given.gala.partnerId + 3]);
    const large = { ...given.gala, partnerId: given.gala.partnerId + 3 };
    expect(await rowsRead((db) => readJournal(db, large, 0, 1_000))).toBeLessThan(30);
  });

  test('a kind that is rare is looked for a part at a time, and what was looked at is not looked at again', async () => {
    const start = await append(times(5_000), [given.gala.partnerId]);
    await append([1], [given.gala.partnerId], { kind: 'failed' });
    let page: JournalPage = { entries: [], cursor: 0, more: true };
    let calls = 0;
    const found: JournalEntry[] = [];
    for (; page.more; calls++) {
      const { cursor } = page;
      const reading = await rowsRead(async (db) => {
        page = await read(cursor, 100, { kinds: ['failed'] }, db);
      });
      expect(page.cursor).toBeGreaterThan(cursor);
      found.push(...page.entries);
      expect(reading).toBeLessThan(2_100);
    }
    expect(calls).toBe(3);
    expect(offsetsOf(found)).toEqual([start + 5_001]);
    const { cursor } = page;
    expect(await read(cursor, 100, { kinds: ['failed'] })).toEqual({ entries: [], cursor, more: false });
  });

  test('a reader is taken past what others have written', async () => {
    await append([1], [given.gala.partnerId]);
    const start = await append(times(10), [given.gala.partnerId + 1]);
    expect((await read()).cursor).toBe(start + 10);
    expect(await read(0, 100, { partnerId: given.gala.partnerId + 2 })).toEqual({
      entries: [],
      cursor: 0,
      more: false,
    });
  });

  test('who may have more than 2,000 entries gets them in one page', async () => {
    await append(times(2_500), [given.gala.partnerId]);
    expect((await read(0, 3_000)).entries).toHaveLength(2_500);
    expect((await read(0, 2_200)).entries).toHaveLength(2_200);
  });
});

describe('what is no longer kept', () => {
  const expire = (limit = 1_000) => deleteOldSegments(given.database.db, given.gala.shardId, 30, limit);

  test('the oldest go first, up to the first that is kept, and each round reads no more than it may delete', async () => {
    while ((await deleteOldSegments(given.database.db, given.gala.shardId, 0, 10_000)) > 0);
    await append(times(50), [given.gala.partnerId], { daysAgo: 31 });
    await append(times(3_000), [given.gala.partnerId]);
    const reading = await rowsRead(async (db) =>
      expect(await deleteOldSegments(db, given.gala.shardId, 30, 20)).toBe(20),
    );
    expect(reading).toBeLessThan(100);
    expect(await expire()).toBe(30);
    expect(await rowsRead((db) => deleteOldSegments(db, given.gala.shardId, 30, 1_000))).toBeLessThan(2_100);
    expect(await expire()).toBe(0);
    // Its writer waited for its place until after the one before was written.
    await append([1], [given.gala.partnerId], { daysAgo: 31 });
    expect(await expire(5_000)).toBe(0);
    expect((await read(0, 5_000)).entries).toHaveLength(3_001);
  });

  test('who would miss entries is told so; who begins, or is far enough, reads on', async () => {
    while ((await deleteOldSegments(given.database.db, given.gala.shardId, 0, 10_000)) > 0);
    const start = await append([5, 5], [given.gala.partnerId], { daysAgo: 31 });
    const kept = await append([5], [given.gala.partnerId]);
    const offsets = [1, 2, 3, 4, 5].map((offset) => kept + offset);
    expect((await read(start, 5)).cursor).toBe(start + 5);
    expect(await expire()).toBe(2);
    if (start > 0) expect(await readAnswer(start, 5, {})).toBe('cursor-expired');
    expect(await readAnswer(kept - 1, 5, {})).toBe('cursor-expired');
    expect(offsetsOf((await read(kept)).entries)).toEqual(offsets);
    expect(offsetsOf((await read(0)).entries)).toEqual(offsets);
    while ((await deleteOldSegments(given.database.db, given.gala.shardId, 0, 10_000)) > 0);
    expect(await readAnswer(kept, 5, {})).toBe('cursor-expired');
    expect(await read(kept + 5)).toEqual({ entries: [], cursor: kept + 5, more: false });
    expect(await read(0)).toEqual({ entries: [], cursor: 0, more: false });
  });

  test('a cursor that the history does not reach is none', async () => {
    const start = await append([1], [given.gala.partnerId]);
    expect(await read(start + 1)).toEqual({ entries: [], cursor: start + 1, more: false });
    expect(await readAnswer(start + 2, 5, {})).toBe('cursor-ahead');
  });
});

describe('a reader that crashes, late commits and two workers', () => {
  test('nothing is skipped, nothing comes twice past a saved cursor, and the order is kept', async () => {
    const expected = new Set<number>();
    const pending: string[] = [];
    const writing = { isOver: false };
    await using there = await given.database.openShard(given.gala.shardId);

    /** Commits batches; every third one late, after others with higher serials. */
    const write = async () => {
      for (let round = 0; round < 60; round++) {
        const late = await there.startTransaction().execute();
        const lateId = randomUUID();
        const serialsOfLate = (
          await reserveBatch(late, lateId, [reservationOf(given.gala, await given.gala.addTicket())])
        ).map((outcome) => (outcome.kind === 'registered' ? outcome.serial : 0));
        for (const size of [1, 3]) {
          const { batchId, serials } = await commit(size);
          serials.forEach((serial) => expected.add(serial));
          pending.push(batchId);
        }
        await late.commit().execute();
        serialsOfLate.forEach((serial) => expected.add(serial));
        pending.push(lateId);
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

test('a shard without a head has an empty journal', async () => {
  const nowhere = { shardId: 987_654 };
  expect(await readAnswer(0, 10, nowhere)).toEqual({ entries: [], cursor: 0, more: false });
  expect(await readAnswer(999, 10, nowhere)).toBe('cursor-ahead');
});
