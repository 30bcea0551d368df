import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { reserveBatch } from '@floodgate/registrations';
import { cancelRegistrationAction, correctRegistrationAction } from '@floodgate/registrations/actions';
import { findAttendees, indexAttendees, type AttendeeQuery } from '@floodgate/registrations/find';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { reservationOf } from '../harness/reservation.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'finds attendees of all events in the database' });

test.override('ticket', {});

type Person = readonly [fullName: string, emailAddress: string];

async function register(
  people: readonly Person[],
  fixture: Fixture = given.gala,
  ticket = given.ticketId,
): Promise<void> {
  const reservations = people.map(([fullName, emailAddress]) =>
    reservationOf(fixture, ticket, { fullName, emailAddress }),
  );
  await reserveBatch(given.db, randomUUID(), reservations);
  await finalizePending(given.db, fixture.shardId);
}

async function indexAll(shardId = given.gala.shardId, most = 100): Promise<void> {
  const scan = tablesOf(given.db)
    .selectFrom('attendee_scans')
    .select('last_offset')
    .where('shard_id', '=', shardId);
  const head = tablesOf(given.db)
    .selectFrom('journal_heads')
    .select('last_offset')
    .where('shard_id', '=', shardId);
  const { last_offset: end } = await head.executeTakeFirstOrThrow();
  do await indexAttendees(given.db, shardId, most);
  while ((await scan.executeTakeFirstOrThrow()).last_offset < end);
}

const find = async (query: AttendeeQuery, limit = 100) => {
  const { attendees } = await findAttendees(given.db, { eventId: given.gala.eventId, ...query }, limit);
  return attendees.map(({ fullName }) => fullName);
};

const PEOPLE = [
  ['Ada Lovelace', 'ada@example.com'],
  ['Grace Hopper', 'GRACE@example.com'],
  ['ada yonath', 'yonath@example.com'],
  ['Édith Piaf', '100%@example.com'],
] as const;

test('somebody is found by the beginning of the name or address, whatever its case', async () => {
  await register(PEOPLE);
  expect(await find({ namePrefix: 'ada' })).toEqual([]);
  await indexAll();
  expect(await find({ namePrefix: 'ADA' })).toEqual(['Ada Lovelace', 'ada yonath']);
  // The locale of the database knows the case of this letter, or does not.
  const { rows } = await sql<{ letter: string }>`select lower('É') as letter`.execute(given.db);
  expect(await find({ namePrefix: `${rows[0]!.letter}d` })).toEqual(['Édith Piaf']);
  expect(await find({ emailPrefix: 'grace@ex' })).toEqual(['Grace Hopper']);
  expect(await find({ emailPrefix: '100%' })).toEqual(['Édith Piaf']);
  expect(await find({ namePrefix: 'ada', emailPrefix: 'yonath' })).toEqual(['ada yonath']);
  // A percent sign is one, and a name is only found by its beginning.
  expect(await find({ emailPrefix: '%' })).toEqual([]);
  expect(await find({ namePrefix: 'lovelace' })).toEqual([]);
});

test('of all events, or of one', async () => {
  const other = await createFixture(given.db);
  await register([['Zoë Other', 'zoe@example.com']], other, await other.addTicket());
  await register([['Zoë Gala', 'zoe@example.com']]);
  await indexAll(other.shardId);
  await indexAll();
  expect(await find({ namePrefix: 'zoë' })).toEqual(['Zoë Gala']);
  const everywhere = await findAttendees(given.db, { emailPrefix: 'zoe@' }, 10);
  expect(everywhere.attendees.map(({ fullName }) => fullName).toSorted()).toEqual(['Zoë Gala', 'Zoë Other']);
});

test('each attendee of an event is on one page, in the order of the names', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `Guest ${String(index).padStart(2, '0')}`);
  await register(names.toReversed().map((name) => [name, 'guest@example.com']));
  await indexAll(given.gala.shardId, 7);
  const read: string[] = [];
  for (let after = 0, more = true; more;) {
    const page = await findAttendees(given.db, { eventId: given.gala.eventId, after }, 10);
    read.push(...page.attendees.map(({ fullName }) => fullName));
    ({ more } = page);
    after = page.cursor!;
  }
  expect(read).toEqual(names);
});

test('without an event, a search needs some letters', async () => {
  await expect(findAttendees(given.db, {}, 10)).rejects.toThrow(
    'an event, or the beginning of a name or an address',
  );
});

test('who was cancelled before the confirmation is found, too', async () => {
  const fixture = { ...given.gala };
  const reservation = reservationOf(fixture, given.ticketId, {
    fullName: 'Cancelled Early',
    emailAddress: 'early@example.com',
  });
  await reserveBatch(given.db, randomUUID(), [reservation]);
  const { serial, pass_code: code } = await tablesOf(given.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('event_id', '=', given.gala.eventId)
    .executeTakeFirstOrThrow();
  const passReference = `GALA-${given.gala.eventId}-${serial}-${code}`;
  await perform(given.db, cancelRegistrationAction, { passReference }, 'test');
  await finalizePending(given.db, given.gala.shardId);
  await indexAll();
  expect(await find({ namePrefix: 'cancelled', state: 'cancelled' })).toEqual(['Cancelled Early']);
});

test('filters leave those of a ticket, a partner or a state', async () => {
  const seated = await given.gala.addTicket();
  await register(PEOPLE.slice(0, 2));
  await register(PEOPLE.slice(2), given.gala, seated);
  await indexAll();
  const [grace] = (await findAttendees(given.db, { eventId: given.gala.eventId, namePrefix: 'grace' }, 1))
    .attendees;
  await perform(given.db, cancelRegistrationAction, { passReference: grace!.passReference }, 'test');
  expect(await find({ ticketId: seated })).toEqual(['ada yonath', 'Édith Piaf']);
  expect(await find({ state: 'cancelled' })).toEqual(['Grace Hopper']);
  expect(await find({ partnerId: given.gala.partnerId, state: 'confirmed', namePrefix: 'ada' })).toHaveLength(
    2,
  );
  expect(await find({ partnerId: given.gala.partnerId + 1 })).toEqual([]);
});

test('a correction is found at once, whether the name was indexed or not', async () => {
  await register(PEOPLE.slice(0, 2));
  await indexAll();
  await register(PEOPLE.slice(2));
  const rows = await tablesOf(given.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('event_id', '=', given.gala.eventId)
    .orderBy('serial')
    .execute();
  for (const { serial, pass_code: code } of [rows[0]!, rows[2]!]) {
    const passReference = `GALA-${given.gala.eventId}-${serial}-${code}`;
    await perform(
      given.db,
      correctRegistrationAction,
      { passReference, fullName: `Right ${serial}` },
      'test',
    );
  }
  await indexAll();
  expect(await find({ namePrefix: 'right' })).toHaveLength(2);
  expect(await find({ namePrefix: 'ada' })).toEqual([]);
});

test('a correction waits for a process that has read the old name', async () => {
  await register(PEOPLE.slice(0, 1));
  const { serial, pass_code: code } = await tablesOf(given.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('event_id', '=', given.gala.eventId)
    .executeTakeFirstOrThrow();
  const indexing = await given.db.startTransaction().execute();
  await indexAttendees(indexing, given.gala.shardId, 1_000);
  const passReference = `GALA-${given.gala.eventId}-${serial}-${code}`;
  const corrected = perform(
    given.db,
    correctRegistrationAction,
    { passReference, fullName: 'Ada Right' },
    'test',
  );
  await waitForLockWaiters(given.db, 1);
  await indexing.commit().execute();
  await corrected;
  expect(await find({ namePrefix: 'ada right' })).toEqual(['Ada Right']);
});

test('processes that index at the same time miss nobody and index nobody twice', async () => {
  await register(Array.from({ length: 200 }, (_, index) => [`Guest ${index}`, 'guest@example.com'] as const));
  for (let rounds = 0; rounds < 30; rounds++)
    await Promise.all([1, 2, 3].map(() => indexAttendees(given.db, given.gala.shardId, 5)));
  await indexAll();
  expect(await find({}, 1_000)).toHaveLength(200);
});

test('a query finds what is stored, also with marks around it or an international domain', async () => {
  await given.useEvent();
  await given.useTicket();
  await register([
    ['שרה לוי', 'sarah@xn--mnchen-3ya.de'],
    // Of an earlier release.
    ['\u200fJane', 'jane@example.com'],
  ]);
  await indexAll();
  expect(await find({ namePrefix: '\u200fשרה' })).toEqual(['שרה לוי']);
  expect(await find({ namePrefix: '\u200fJane' })).toEqual(['\u200fJane']);
  expect(await find({ emailPrefix: 'sarah@münchen.de' })).toEqual(['שרה לוי']);
});
