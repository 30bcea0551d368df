import { normalizePerson } from '@floodgate/contract';
import fc from 'fast-check';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { anyBody, FIELD_NAMES, FIELDS, REQUIRED, rightBody } from '../harness/drawn-fields.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { attendee, type Answer } from '../harness/partner-client.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ sharesEvent: true });

test.override('ticket', { capacity: 1_000_000 });

/** Returns the fields that the message names as invalid. */
function namedFields({ body: { responseMessage } }: Answer): string[] {
  return FIELD_NAMES.filter((name) => responseMessage.includes(`${name}: `));
}

async function expectRefusal(answer: Answer, wrong: readonly string[]): Promise<void> {
  expect(answer.body).toEqual({
    responseCode: '11',
    responseMessage: expect.any(String) as string,
    responseData: null,
  });
  expect(answer.status).toBe(422);
  expect(namedFields(answer)).toEqual(wrong);
}

test('of any body every wrong field is named, and no other; a right one is accepted', async () => {
  const property = fc.asyncProperty(anyBody, async ({ body, wrong }) => {
    const answer = await given.partner.register(body);
    if (wrong.length > 0) return expectRefusal(answer, wrong);
    expect(['00', '30']).toContain(answer.body.responseCode);
  });
  await fc.assert(property, { numRuns: 400 });
});

test.for(FIELD_NAMES)('a wrong %s alone is named alone', async (name) => {
  const property = fc.asyncProperty(FIELDS[name].wrong, async (value) => {
    await expectRefusal(await given.partner.register(attendee(given.ticketId, { [name]: value })), [name]);
  });
  await fc.assert(property, { numRuns: 60 });
});

const COLUMNS = {
  fullName: 'full_name',
  emailAddress: 'email_address',
  phoneNumber: 'phone_number',
  gender: 'gender',
  tableOrSeat: 'table_or_seat',
  extraData1: 'extra_data_1',
  extraData2: 'extra_data_2',
} as const;

test('what is accepted is stored as it was sent, but for what is removed around it', async () => {
  const property = fc.asyncProperty(rightBody, async (drawn) => {
    const body = { ...drawn, organizedEventTicketID: given.ticketId };
    const { body: answer } = await given.partner.register(body);
    expect(answer).toMatchObject({ responseCode: '00', responseMessage: 'Successful' });
    const serial = Number(String(answer.responseData).split('-')[2]);
    const row = await tablesOf(given.database.db)
      .selectFrom('registrations')
      .select(Object.values(COLUMNS))
      .where('serial', '=', serial)
      .executeTakeFirstOrThrow();
    const wanted = normalizePerson({ ...drawn });
    for (const [field, column] of Object.entries(COLUMNS)) {
      const sent = (wanted[field] ?? null) as string | null;
      expect(row[column]).toBe(sent);
    }
  });
  await fc.assert(property, { numRuns: 150 });
});

test('unknown fields are ignored, whatever they are called and hold', async () => {
  const unknown = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('fullname', 'id', 'constructor', 'toString', 'hasOwnProperty')),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const property = fc.asyncProperty(unknown, async (extra) => {
    const { body } = await given.partner.register({ ...extra, ...attendee(given.ticketId) });
    expect(body).toMatchObject({ responseCode: '00' });
  });
  await fc.assert(property, { numRuns: 100 });
});

test('"__proto__" and "constructor" are unknown fields like others: they neither harm nor help', async () => {
  const own = JSON.stringify(attendee(given.ticketId)).slice(1);
  for (const poison of [
    '"__proto__":{"gender":5}',
    '"constructor":{"prototype":{"gender":5}}',
    '"__proto__":7',
  ]) {
    expect((await given.partner.register(`{${poison},${own}`)).body).toMatchObject({ responseCode: '00' });
  }
  const inherited = await given.partner.register(`{"__proto__":${JSON.stringify(attendee(given.ticketId))}}`);
  await expectRefusal(inherited, REQUIRED);
  expect(({} as Record<string, unknown>)['gender']).toBeUndefined();
});

test.for(['[]', '[{}]', 'null', '7', 'true', '"text"', '""'])(
  'a body that is %s is no object',
  async (body) => {
    const answer = await given.partner.register(body);
    await expectRefusal(answer, []);
    expect(answer.body.responseMessage).toBe('The body must be a JSON object');
  },
);

// A lone byte, an overlong form, a surrogate, a code point past the last plane, and a truncated sequence,
// which has the same length as the U+FFFD that replaces it.
test.for(['ff', 'c080', 'eda080', 'f4908080', 'f09f98'])(
  'a name with the bytes %s is no UTF-8',
  async (hex) => {
    const [before, after] = JSON.stringify(attendee(given.ticketId, { fullName: 'Jane#' })).split('#');
    const answer = await given.partner.request('/api/v1/events/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat([Buffer.from(before!), Buffer.from(hex, 'hex'), Buffer.from(after!)]),
    });
    expectFailure(answer, '10', 400);
  },
);

test('an empty object names every field that is required', async () => {
  await expectRefusal(await given.partner.register({}), REQUIRED);
});

test('a whole number is one however it is written; text is none', async () => {
  const withId = (id: string) =>
    given.partner.register(JSON.stringify(attendee(0)).replace(/("organizedEventTicketID":)0/, `$1${id}`));
  for (const id of [`${given.ticketId}.0`, `${given.ticketId}00e-2`]) {
    expect((await withId(id)).body).toMatchObject({ responseCode: '00' });
  }
  for (const id of [`"${given.ticketId}"`, '1e400', '-1e400', '1.0000001']) {
    await expectRefusal(await withId(id), ['organizedEventTicketID']);
  }
});

test('a wrong Idempotency-Key is named together with the wrong fields', async () => {
  const wrong = { 'idempotency-key': 'two words' };
  const answer = await given.partner.register(attendee(given.ticketId, { gender: 7, fullName: '' }), wrong);
  await expectRefusal(answer, ['fullName', 'gender']);
  expect(answer.body.responseMessage).toContain('Idempotency-Key: 1 to 255 visible ASCII characters');
  const alone = await given.partner.register(attendee(given.ticketId), wrong);
  await expectRefusal(alone, []);
  expect(alone.body.responseMessage).toBe('Idempotency-Key: 1 to 255 visible ASCII characters');
});
