import { randomUUID } from 'node:crypto';
import { grantEvent } from '@floodgate/events';
import { createPartner } from '@floodgate/partners';
import { changeRegistrations, reserveBatch, type Reservation } from '@floodgate/registrations';
import type { RegistrationFilter } from '@floodgate/registrations/filter';
import { filterOf } from '@floodgate/registrations/filter';
import { countMatches, findMatches, serialsOfMatches } from '@floodgate/registrations/matches';
import { exportRegistrations } from '@floodgate/registrations/export';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { createFixture } from '../harness/fixture.ts';
import { eventTest } from '../harness/event-test.ts';
import { pendingBatches } from '../harness/journal.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = eventTest({
  own: 'finalizes batches, and leaves holds that have ended',
  sharesEvent: true,
});

/** What a registration is, as the test has made it. */
interface Known {
  serial: number;
  partnerId: number;
  ticketId: number;
  name: string;
  email: string;
  phone: string | null;
  reference: string | null;
  soldAt: Date;
  state: string;
  mail: string;
  admitted: boolean;
  failure: string | null;
}

const NAMES = [
  'Élodie Müller-Lüdenscheidt',
  'E\u0301lodie d\u2019Arc',
  'JOSÉ O\u2019Neill',
  'Ｊａｎｅ Ｄｏｅ',
  'Doe, Jane',
  'Ada "Countess" Lovelace',
  'Anna-Lena (Müller)',
  'Søren 100%_Kierkegaard',
  'ВИКТОР Цой',
  'Armuellerin',
];
const EMAILS = [
  'elodie@example.com',
  'Jose.ONeill+gala@Example.org',
  'jane_doe@mail.example.com',
  'a%b@example.net',
];
const PHONES = [
  null,
  '+49 30 123456',
  '030 / 12 34 56',
  '+４９（３０）１２３456',
  '٠٣٠١٢٣٤٥٦',
  '0049 171 555-0100',
  '110',
  '',
];
const FAILURE = '22021';
const MAILS = ['sent', 'queued', 'sending', 'retry', 'undeliverable', 'suppressed', 'cancelled', null];
/** The state that the filter names for the state of a delivery. */
const MAIL_OF: Record<string, string> = {
  queued: 'waiting',
  sending: 'waiting',
  retry: 'waiting',
  cancelled: 'none',
};

async function createMany(): Promise<Known[]> {
  const { db, gala } = given;
  const { shardId, eventId } = gala;
  const tickets = [await gala.addTicket(), await gala.addTicket({ title: 'Seated' })];
  const other = await createPartner(db, `partner ${randomUUID()}`);
  await grantEvent(db, other.id, eventId);
  const partners = [gala.partnerId, other.id];
  const known: Known[] = [];
  for (const [index, kind] of ['confirmed', 'failed', 'held', 'cancelled', 'expired', 'reserved'].entries()) {
    const reservations = NAMES.flatMap((fullName, position): Reservation[] => {
      const number = index * NAMES.length + position;
      const person = {
        fullName,
        emailAddress: EMAILS[number % EMAILS.length]!,
        phoneNumber: PHONES[number % PHONES.length]!,
        partnerReference: number % 3 === 0 ? `order ${number % 2}` : null,
        passCode: 1_000_000_000 + number,
        holdSeconds: kind === 'held' || kind === 'expired' ? 600 : null,
      };
      const ticketId = tickets[number % 2]!;
      return [reservationOf({ ...gala, partnerId: partners[number % 3 === 0 ? 1 : 0]! }, ticketId, person)];
    });
    const outcomes = await reserveBatch(db, randomUUID(), reservations);
    const serials = outcomes.map((outcome) => (outcome.kind === 'registered' ? outcome.serial : 0));
    const soldAt = new Date(Date.UTC(2026, 9, 1 + index));
    await sql`
      update registrations set reserved_at = ${soldAt}
      where shard_id = ${shardId} and serial = any(${serials}::bigint[])`.execute(db);
    if (kind !== 'reserved') {
      const { batchIds } = await pendingBatches(db, shardId);
      const failure = kind === 'failed' ? FAILURE : null;
      await sql`select finalize_batches(${shardId}, ${batchIds}::uuid[], ${failure}, 1000)`.execute(db);
    }
    if (kind === 'cancelled')
      await changeRegistrations(
        db,
        shardId,
        'cancelled',
        reservations.map(({ partnerId, passCode }, at) => ({
          serial: serials[at]!,
          eventId,
          partnerId,
          passCode,
        })),
        { byOperator: true },
      );
    if (kind === 'expired')
      await sql`
        update registrations set held_until = now() - interval '1 s'
        where shard_id = ${shardId} and serial = any(${serials}::bigint[])`.execute(db);
    for (const [position, reservation] of reservations.entries()) {
      const number = index * NAMES.length + position;
      const mail = MAILS[number % MAILS.length]!;
      const serial = serials[position]!;
      if (mail)
        await sql`
          insert into deliveries (shard_id, event_id, kind, subject, state)
          values (${shardId}, ${eventId}, 'confirmation', ${String(serial)}, ${mail})`.execute(db);
      // An e-mail of another kind says nothing about the pass.
      await sql`
        insert into deliveries (shard_id, event_id, kind, subject, state)
        values (${shardId}, ${eventId}, 'event-updated', ${String(serial)}, 'undeliverable')`.execute(db);
      const admission = number % 7;
      if (admission < 2)
        await sql`
          insert into admissions (shard_id, event_id, partner_id, registration, seat, area, gate_id, device_id, counter,
            at, is_open, undone_at)
          values (${shardId}, ${eventId}, ${reservation.partnerId}, ${serial}, ${serial}, 'main', 1, 1, ${number}, now(),
            ${admission === 0}, ${admission === 0 ? null : new Date()})`.execute(db);
      known.push({
        serial,
        partnerId: reservation.partnerId,
        ticketId: reservation.ticketId,
        name: reservation.fullName!,
        email: reservation.emailAddress!,
        phone: reservation.phoneNumber,
        reference: reservation.partnerReference,
        soldAt,
        state: kind === 'expired' ? 'cancelled' : kind,
        mail: mail === null ? 'none' : (MAIL_OF[mail] ?? mail),
        admitted: admission === 0,
        failure: kind === 'failed' ? FAILURE : null,
      });
    }
  }
  // Of another event.
  const elsewhere = await createFixture(db);
  await reserveBatch(db, randomUUID(), [
    reservationOf(elsewhere, await elsewhere.addTicket(), { fullName: 'Jane Doe' }),
  ]);
  return known;
}

/** The digits of a phone number, without the code of the product. */
const digits = (phone: string | null) =>
  Array.from(phone ?? '', (one) => {
    const code = one.codePointAt(0)!;
    const zero = [0x30, 0x660, 0xff10].find((start) => code >= start && code < start + 10);
    return zero === undefined ? '' : String(code - zero);
  }).join('');

type Case = [filter: Omit<RegistrationFilter, 'eventId'>, isWanted: (one: Known) => boolean];

const casesFor = (known: Known[]): Case[] => {
  const { partnerId, ticketId } = known[0]!;
  const named = (...names: number[]) => names.map((index) => NAMES[index]!);
  const nameCase = (name: string, ...names: number[]): Case => [
    { name },
    (one) => named(...names).includes(one.name),
  ];
  return [
    [{}, () => true],
    [{ partnerId }, (one) => one.partnerId === partnerId],
    [{ ticketId }, (one) => one.ticketId === ticketId],
    ...(['held', 'reserved', 'confirmed', 'failed', 'cancelled'] as const).map((state): Case => [
      { state },
      (one) => one.state === state,
    ]),
    ...(['sent', 'waiting', 'undeliverable', 'suppressed', 'none'] as const).map((mail): Case => [
      { mail },
      (one) => one.mail === mail,
    ]),
    [{ soldFrom: new Date('2026-10-03') }, (one) => one.soldAt >= new Date('2026-10-03')],
    [{ soldUntil: new Date('2026-10-03') }, (one) => one.soldAt < new Date('2026-10-03')],
    [{ admitted: true }, (one) => one.admitted],
    [{ admitted: false }, (one) => !one.admitted],
    [{ failure: FAILURE }, (one) => one.failure === FAILURE],
    [{ failure: '23505' }, () => false],
    [{ partnerReference: 'order 1' }, (one) => one.reference === 'order 1'],
    [{ email: 'EXAMPLE.O' }, (one) => one.email === EMAILS[1]],
    [{ email: '%' }, (one) => one.email === EMAILS[3]],
    [{ email: '_' }, (one) => one.email === EMAILS[2]],
    [{ phone: '0123456' }, (one) => digits(one.phone).includes('123456')],
    [{ phone: '+49 30 123456' }, (one) => /^(?:49|0)30123456$/.test(digits(one.phone))],
    [{ phone: '0171 5550' }, (one) => digits(one.phone).includes('1715550')],
    [{ phone: '１１０' }, (one) => one.phone === '110'],
    nameCase('elodie', 0, 1),
    nameCase('ÉLO', 0, 1),
    nameCase('E\u0301LO', 0, 1),
    nameCase('mull', 0, 6),
    nameCase('lud', 0),
    nameCase('jane', 3, 4),
    nameCase('do ja', 3, 4),
    nameCase('neill', 2),
    nameCase('countess', 5),
    nameCase('100%', 7),
    nameCase('виктор', 8),
    nameCase('ueller'),
    [
      { name: 'jane', state: 'held', admitted: false },
      (one) => /Jane|Ｊａｎｅ/.test(one.name) && one.state === 'held' && !one.admitted,
    ],
  ];
};

test('each field selects what an independent computation selects: in a list, a count, an export and for a job', async () => {
  const { db, gala } = given;
  const { eventId, shardId } = gala;
  const known = await createMany();
  for (const [fields, isWanted] of casesFor(known)) {
    const filter = filterOf({ ...fields, eventId });
    const wanted = known.filter(isWanted).map(({ serial }) => serial);
    expect([fields, await serialsOfMatches(db, shardId, filter)]).toEqual([fields, wanted]);
    expect(await countMatches(db, shardId, filter)).toEqual({
      count: wanted.length,
      lastSerials: wanted.slice(-1),
    });
    const serialOf = (reference: string) => Number(reference.split('-')[2]);
    const listed: number[] = [];
    for (let after = 0, more = true; more;) {
      const page = await findMatches(db, shardId, filter, { after, limit: 7 });
      listed.push(...page.registrations.map(({ passReference }) => serialOf(passReference)));
      ({ cursor: after, more } = page);
    }
    expect([fields, listed]).toEqual([fields, wanted]);
    let text = '';
    for await (const chunk of exportRegistrations(db, eventId, { format: 'ndjson', filter: fields }))
      text += chunk;
    const exported = text.split('\n').filter(Boolean);
    const references = exported.map((line) => (JSON.parse(line) as { passReference: string }).passReference);
    expect([fields, references.map(serialOf)]).toEqual([fields, wanted]);
  }
});

test('a range of serials bounds a count', async () => {
  const { db, gala } = given;
  const filter = { eventId: gala.eventId };
  const serials = await serialsOfMatches(db, gala.shardId, filter);
  const [after, upTo] = [serials[3]!, serials[9]!];
  expect((await countMatches(db, gala.shardId, filter, { ranges: [{ after, upTo }] })).count).toBe(6);
});

test('a wrong field is named with its rule', () => {
  const refusalOf = (fields: object) => {
    try {
      filterOf({ eventId: 1001, ...fields });
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };
  expect(refusalOf({ name: '- .' })).toMatch('name');
  expect(refusalOf({ phone: 'abc' })).toMatch('phone: at least 3 digits');
  expect(refusalOf({ soldFrom: new Date(1), soldUntil: new Date(1) })).toMatch(
    'soldUntil: later than soldFrom',
  );
  expect(refusalOf({ state: 'sold' })).toMatch('state');
  expect(refusalOf({ mail: 'none', admitted: false })).toBe('accepted');
});

test('the commands search, count and export by the same filter', async () => {
  const { database, gala } = given;
  const event = String(gala.eventId);
  const run = (...args: string[]) => runCli({ DATABASE_URL: database.url }, 'registration', ...args);
  const filter = ['--name', 'elodie', '--state', 'confirmed'];
  expect(await run('count', '--event', event, ...filter)).toEqual({ code: 0, output: '2\n' });
  const found = await run('search', '--event', event, ...filter, '--json');
  const { registrations } = JSON.parse(found.output) as { registrations: { fullName: string }[] };
  expect(registrations.map(({ fullName }) => fullName)).toEqual([NAMES[0], NAMES[1]]);
  const exported = await run('export', event, '--format', 'ndjson', ...filter);
  expect(exported.output.trim().split('\n')).toHaveLength(2);
  expect(await run('count', '--event', event, '--phone', 'xyz')).toMatchObject({
    code: 2,
    output: expect.stringMatching('--phone: at least 3 digits') as string,
  });
});
