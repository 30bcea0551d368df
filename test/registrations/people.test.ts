import { perform } from '@floodgate/audit';
import { fieldRule, PERSON_EXAMPLES, RegistrationRequest, type Hold } from '@floodgate/contract';
import { updateEventAction } from '@floodgate/events/actions';
import { contactPartnerAction } from '@floodgate/partners/actions';
import { correctRegistrationAction, replaceAttendeeAction } from '@floodgate/registrations/actions';
import { InvalidInput } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { operationsOf, resolve, type Document } from '../harness/contract-document.ts';
import type { Answer } from '../harness/partner-client.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ sharesEvent: true });

test.override('ticket', { capacity: 1_000_000 });

type Example = (typeof PERSON_EXAMPLES)[number];
type Person = Record<string, string>;

const COLUMNS = {
  fullName: 'full_name',
  emailAddress: 'email_address',
  phoneNumber: 'phone_number',
  extraData1: 'extra_data_1',
} as const;

const JANE = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
const ticket = () => ({ organizedEventTicketID: given.ticketId });

/** Returns the stored text, or the message of a refusal with code 11. */
const judge = async ({ body }: Answer, field: Example['field'], serialOf = serialIn) =>
  body.responseCode === '00' ? storedIn(serialOf(body.responseData), field) : refusalIn(body);

function refusalIn({ responseCode, responseMessage }: Answer['body']) {
  expect(responseCode).toBe('11');
  return { refused: responseMessage };
}

const serialIn = (passReference: unknown) => Number(String(passReference).split('-')[2]);
const serialOfHold = (hold: unknown) => serialIn((hold as Hold).seats[0]!.passReference);

async function storedIn(serial: number, field: Example['field']) {
  const row = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(COLUMNS[field])
    .where('serial', '=', serial)
    .executeTakeFirstOrThrow();
  return { stored: Object.values(row)[0] as string };
}

async function registered(): Promise<string> {
  const { body } = await given.partner.register({ ...JANE, ...ticket() });
  return body.responseData as string;
}

async function held(): Promise<string> {
  const { body } = await given.partner.post('/holds', { tickets: [{ ...ticket(), seats: 1 }] });
  return (body.responseData as Hold).holdReference;
}

/** Every operation of partners that takes people's data: what it makes of a person. */
const OPERATIONS: Record<string, (person: Person, field: Example['field']) => Promise<object>> = {
  registerForEvent: async (person, field) =>
    judge(await given.partner.register({ ...person, ...ticket() }), field),
  registerInBulk: async (person, field) => {
    const { body } = await given.partner.registerBulk([{ ...person, ...ticket() }]);
    const [item] = body.responseData as [Answer['body']];
    return item.responseCode === '00' ? storedIn(serialIn(item.responseData), field) : refusalIn(item);
  },
  confirmHold: async (person, field) => {
    const named = await given.partner.post(`/holds/${await held()}/confirm`, { attendees: [person] });
    const contact = await given.partner.post(`/holds/${await held()}/confirm`, { contact: person });
    const [first, second] = [
      await judge(named, field, serialOfHold),
      await judge(contact, field, serialOfHold),
    ];
    if ('stored' in first) expect(second).toEqual(first);
    return 'refused' in first ? { refused: first.refused.replace('attendees[0].', '') } : first;
  },
  changeAttendee: async (person, field) =>
    judge(await given.partner.post(`/registrations/${await registered()}/attendee`, person), field),
  joinWaitingList: async (person, field) => {
    const soldOut = await given.gala.addTicket({ capacity: 1, offerHours: 1 });
    await given.partner.register({ ...JANE, organizedEventTicketID: soldOut });
    const contact = { fullName: person['fullName'], emailAddress: person['emailAddress'] };
    const { body } = await given.partner.post('/waiting-list', { organizedEventTicketID: soldOut, contact });
    if (body.responseCode !== '00') return { refused: refusalIn(body).refused.replace('contact.', '') };
    const { rows } = await sql<{ stored: string }>`
      select ${sql.ref(COLUMNS[field])} as stored from waiting_entries
      where ticket_id = ${soldOut}`.execute(given.database.db);
    return rows[0]!;
  },
};

test('every operation whose body has a name is tried here', async () => {
  const document = (await (await fetch(`${given.api.baseUrl}/api/v1/openapi.json`)).json()) as Document;
  const hasPerson = (schema: object): boolean => JSON.stringify(schema).includes('"fullName"');
  const named = operationsOf(document).filter(({ requestBody }) => {
    if (!requestBody) return false;
    const body = resolve(document, requestBody.content['application/json'].schema);
    const inner = Object.values(body.properties ?? {}).map((part) => {
      const { items = part } = part as { items?: object };
      return resolve(document, items as never);
    });
    return [body, ...inner].some(hasPerson);
  });
  expect(named.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
});

for (const [name, call] of Object.entries(OPERATIONS)) {
  test(`${name} stores and refuses what the examples say`, async () => {
    const examples = PERSON_EXAMPLES.filter(({ field }) => name !== 'joinWaitingList' || field in JANE);
    for (const { field, sent, stored, why } of examples) {
      const outcome = await call({ ...JANE, [field]: sent }, field);
      const refused = fieldRule(RegistrationRequest, `/${field}`);
      expect([why, sent, outcome]).toEqual([why, sent, stored === undefined ? { refused } : { stored }]);
    }
  });
}

test("the operator's changes follow the same rules", async () => {
  const act = async (person: Person, field: Example['field']) => {
    const passReference = await registered();
    const { db } = given.database;
    try {
      const correction = { passReference, [field]: person[field]! };
      await perform(db, correctRegistrationAction, correction, 'test');
      const corrected = await storedIn(serialIn(passReference), field);
      const other = { ...JANE, ...person, passReference };
      const { passReference: next } = await perform(db, replaceAttendeeAction, other, 'test');
      expect(await storedIn(serialIn(next), field)).toEqual(corrected);
      return corrected;
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidInput);
      return 'refused';
    }
  };
  for (const { field, sent, stored } of PERSON_EXAMPLES) {
    if (field !== 'fullName' && field !== 'emailAddress') continue;
    const outcome = await act({ ...JANE, [field]: sent }, field);
    expect([sent, outcome]).toEqual([sent, stored === undefined ? 'refused' : { stored }]);
  }
});

test('a registration whose name would be refused today can be read, changed and cancelled', async () => {
  const old = await registered();
  const serial = serialIn(old);
  for (const name of ['\u3164', 'Jane \u202eeoD', '\u0301']) {
    await sql`update registrations set full_name = ${name} where serial = ${serial}`.execute(
      given.database.db,
    );
    expect((await given.partner.registration(old)).body.responseCode).toBe('00');
    const corrected = { passReference: old, emailAddress: 'jane@example.org' };
    await perform(given.database.db, correctRegistrationAction, corrected, 'test');
    expect(await storedIn(serial, 'fullName')).toEqual({ stored: name });
  }
  const changed = await given.partner.post(`/registrations/${old}/attendee`, JANE);
  expect(changed.body.responseCode).toBe('00');
  expect((await given.partner.cancel(changed.body.responseData as string)).body.responseCode).toBe('00');
});

test('the addresses of a partner and of an event are stored as those of people', async () => {
  const { db } = given.database;
  for (const { field, sent, stored, why } of PERSON_EXAMPLES) {
    if (field !== 'emailAddress' || stored === undefined) continue;
    const { partnerId, eventId } = given.gala;
    const partner = await perform(db, contactPartnerAction, { partnerId, contactEmail: sent }, 'test');
    expect([why, partner.contactEmail]).toEqual([why, stored]);
    const event = await perform(db, updateEventAction, { eventId, replyTo: sent }, 'test');
    expect([why, event.replyTo]).toEqual([why, stored]);
  }
});

test('duplicates and idempotency keys see what is stored', async () => {
  await given.useEvent({ duplicatePolicy: 'reject' });
  await given.useTicket({ capacity: 10 });
  const send = (person: Person, key: string) =>
    given.partner.register({ ...person, ...ticket() }, { 'idempotency-key': key });
  const first = await send({ ...JANE, emailAddress: 'joerg@münchen.de' }, 'one');
  expect(first.body.responseCode).toBe('00');
  const marked = { fullName: '\u202aJane Doe\u202c', emailAddress: ' joerg@MÜNCHEN.de\u200f' };
  expect((await send(marked, 'one')).body).toEqual(first.body);
  expect((await send(marked, 'two')).body.responseCode).toBe('33');
  const other = await send({ ...JANE, emailAddress: 'other@xn--mnchen-3ya.de' }, 'three');
  const named = { ...JANE, emailAddress: 'JOERG@xn--mnchen-3ya.de' };
  const reference = other.body.responseData as string;
  expect((await given.partner.post(`/registrations/${reference}/attendee`, named)).body.responseCode).toBe(
    '33',
  );
});
