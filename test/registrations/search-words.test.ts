import { randomBytes, randomUUID } from 'node:crypto';
import { migrate, type Database } from '@floodgate/database';
import { reserveBatch, type Reservation } from '@floodgate/registrations';
import { findAttendees, indexAttendees } from '@floodgate/registrations/find';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { withDatabase } from '../harness/database-url.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { reservationOf } from '../harness/reservation.ts';

/** Words that are found, and texts that are not. */
type Example = readonly [stored: string, found: readonly string[], notFound?: readonly string[]];

const NAMES: Example[] = [
  ['Ada Lovelace', ['ADA', 'love', 'lovelace ada', 'ａｄａ'], ['velace', 'ada grace']],
  ['Hans Groß', ['gross', 'GROẞ', 'groß', 'hans gro'], ['grosz']],
  ['Jürgen Müller', ['muller', 'müller', 'mu\u0308ller', 'MÜLL', 'jurgen'], ['mueller']],
  ['Ju\u0308rgen Mu\u0308ller', ['muller', 'müller', 'mu\u0308ller']],
  ["Conan O'Brien", ["o'brien", 'obrien', 'brien', 'o brien', 'O’Brien', 'O´Br'], ['onan']],
  ['Flann O’Brien', ["o'brien", 'obrien', 'brien']],
  ['Nguyễn Văn An', ['nguyen', 'nguyễn', 'van an', 'VĂN'], ['guyen']],
  ['Ａｎｎａ Ｍａｘ', ['anna', 'max', 'Ａｎｎ']],
  ['山田 太郎', ['山田', '太', '山田　太郎'], ['田']],
  ['Łukasz Żółć', ['lukasz', 'łuk', 'ŁUKASZ', 'zolc']],
  ['İpek Işık', ['ipek', 'İPEK', 'isik', 'ışık']],
  ['Søren Ærø-Ðahl', ['soren', 'aero', 'dahl', 'Ærø']],
  ['Anne-Marie Lüdenscheidt', ['anne', 'marie', 'anne-marie', 'anne marie lud'], ['nemarie']],
  ['Иван Йовков', ['иван', 'ИВАН', 'йов']],
  ['Αλέξης ΖΟΡΜΠΆΣ', ['αλεξης', 'ΑΛΈΞΗΣ', 'ζορμπασ', 'Ζορμπάς']],
  ['שרה לוי', ['\u200fשרה', 'לוי']],
];

const FIELDS: [field: keyof Reservation, ...example: Example][] = [
  [
    'emailAddress',
    'j.doe+news@mail.example.co.uk',
    ['mail', 'doe', 'example', 'news@mail', 'j.doe+news@mail.example.co.uk', 'EXAMPLE.CO', 'uk'],
    ['oe', 'xample', 'doe@gmail'],
  ],
  ['emailAddress', 'jane_roe-1@x-y.com', ['roe', '1@x', 'y.com', 'jane_roe']],
  [
    'phoneNumber',
    '+49 170 1234567',
    ['0170 123 45 67', '+49 170 1234567', '0049170123', '491701', '170-12', '+49 (0)170', '０１７０'],
    ['70123', '+49 171', '0171'],
  ],
  ['phoneNumber', '0170/1234567', ['+491701234567', '01701', '170 12', '49 170 1234567'], ['+49 171']],
  ['phoneNumber', '+1 415 555 0100', ['415 555', '(415) 555-0100', '14155550100'], ['5550100']],
  ['partnerReference', 'Order-4711/B', ['4711', 'order-4711', 'ORDER', 'order-4711/b'], ['711']],
];

/** In SQL_ASCII only the case of ASCII letters is ignored. */
const IN_BYTES: Example[] = [
  ['Ada Lovelace', ['ADA', 'love']],
  ['Jürgen Müller', ['jürgen', 'mül'], ['muller']],
  ["Conan O'Brien", ["o'brien", 'obrien', 'brien']],
  ['山田 太郎', ['山田', '太']],
];

/** Returns a migrated database with an encoding, which is there during the tests of a block. */
function databaseIn(encoding: 'UTF8' | 'SQL_ASCII') {
  const name = `floodgate_${encoding.toLowerCase()}_${randomBytes(6).toString('hex')}`;
  const given = {} as { db: Database };
  let server: Database;
  beforeAll(async () => {
    server = connectInTest(inject('postgresUrl'));
    await sql`
      create database ${sql.id(name)} template template0 encoding ${sql.lit(encoding)} locale_provider 'libc'
      lc_collate 'C' lc_ctype 'C'`.execute(server);
    given.db = connectInTest(withDatabase(inject('postgresUrl'), name));
    await migrate(given.db);
  });
  afterAll(async () => {
    await given.db.destroy();
    await sql`drop database ${sql.id(name)} with (force)`.execute(server);
    await server.destroy();
  });
  return given;
}

/** Checks what finds an attendee in an event of its own. */
async function expectFound(
  db: Database,
  attendee: Partial<Reservation>,
  found: readonly string[],
  notFound: readonly string[] = [],
) {
  const fixture = await createFixture(db);
  const { eventId, shardId } = fixture;
  const reservation = reservationOf(fixture, await fixture.addTicket(), {
    fullName: 'Zoe Zett',
    emailAddress: 'z@z.zz',
    ...attendee,
  });
  await reserveBatch(db, randomUUID(), [reservation]);
  await finalizePending(db, shardId);
  await indexAttendees(db, shardId, 1_000);
  const isFound = async (text: string) => (await findAttendees(db, { eventId, text }, 10)).total === 1;
  for (const text of found) expect([text, await isFound(text)]).toEqual([text, true]);
  for (const text of notFound) expect([text, await isFound(text)]).toEqual([text, false]);
}

describe('in UTF8', () => {
  const given = databaseIn('UTF8');

  test.for(NAMES)('%s is found by the beginning of its words', async ([fullName, found, notFound]) => {
    await expectFound(given.db, { fullName }, found, notFound);
  });

  test.for(FIELDS)('%s %s is found by its parts', async ([field, stored, found, notFound]) => {
    await expectFound(given.db, { [field]: stored }, found, notFound);
  });

  test('a text that is too long for a word of the index is found by its beginning', async () => {
    const fullName = '한'.repeat(255);
    await expectFound(given.db, { fullName }, ['한한한', fullName]);
  });
});

describe('in SQL_ASCII', () => {
  const given = databaseIn('SQL_ASCII');

  test.for(IN_BYTES)('%s is found by the beginning of its words', async ([fullName, found, notFound]) => {
    await expectFound(given.db, { fullName }, found, notFound);
  });
});
