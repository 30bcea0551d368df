import { createEvent, grantEvent, revokeEvent } from '@floodgate/events';
import { issueKey, listKeys, revokeKey, rotateKey, type IssuedKey } from '@floodgate/partners';
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { PATIENT, startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

const HOUR_MS = 3_600_000;
/** An API remembers the access of a key for this long. The promise to partners and operators is 2 s, with the time of a read. */
const REMEMBERED_MS = 1_000;

test.override('ticket', { capacity: 100_000 });

/** Of both APIs. */
const clock = new ManualClock();
let apis: InProcessApi[];

test.beforeAll(async () => {
  apis = await Promise.all(
    [1, 2].map(() => startInProcessApi({ DATABASE_URL: given.database.url, ...PATIENT }, clock)),
  );
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()));
});

const clients = (secretKey = given.gala.secretKey, eventRef = given.gala.eventRef) =>
  apis.map((api) => new PartnerClient(api.baseUrl, { secretKey, eventRef }));

const codesOf = (secretKey: string) =>
  Promise.all(clients(secretKey).map(async (client) => (await client.tickets()).body.responseCode));

/** Does something, and expects both APIs to follow when what they remember is too old, and for good. */
async function expectEffect(
  act: () => Promise<unknown>,
  [before, after]: [string, string],
  secretKey = given.gala.secretKey,
): Promise<void> {
  const callers = clients(secretKey);
  const expectCode = async (code: string) => {
    for (const client of callers)
      expect((await client.register(attendee(given.ticketId))).body.responseCode).toBe(code);
  };
  await expectCode(before);
  await act();
  // An API that read the access before still knows it.
  await clock.advance(REMEMBERED_MS);
  await expectCode(before);
  await clock.advance(1);
  for (let round = 0; round < 3; round += 1) await expectCode(after);
}

const expire = (keyId: string) =>
  given.database.db
    .updateTable('secret_keys')
    .set({ expires_at: sql<Date>`now()` })
    .where('key_id', '=', keyId)
    .execute();

test('all keys of a disabled partner are refused, and accepted again when it is enabled', async () => {
  const run = async (command: 'disable' | 'enable') =>
    expect(
      await runCli({ DATABASE_URL: given.database.url }, 'partner', command, `${given.gala.partnerId}`),
    ).toEqual({
      code: 0,
      output: `partner ${given.gala.partnerId} is ${command}d\n`,
    });
  await expectEffect(() => run('disable'), ['00', '20']);
  const other = await issueKey(given.database.db, given.gala.partnerId);
  expect(await codesOf(other.secretKey)).toEqual(['20', '20']);
  await expectEffect(() => run('enable'), ['20', '00']);
});

test('a revoked key is refused by every API, and no other key with it', async () => {
  const other = await issueKey(given.database.db, given.gala.partnerId);
  await expectEffect(() => revokeKey(given.database.db, given.gala.keyId), ['00', '20']);
  expect(await codesOf(other.secretKey)).toEqual(['00', '00']);
});

test('a key that expires in use is refused', async () => {
  const key = await issueKey(given.database.db, given.gala.partnerId, new Date(Date.now() + HOUR_MS));
  await expectEffect(() => expire(key.keyId), ['00', '20'], key.secretKey);
});

test('an event that is closed to a partner is gone for it, and its other events are not', async () => {
  const ball = await createEvent(given.database.db, {
    name: 'Ball',
    passPrefix: 'BALL',
    duplicatePolicy: 'allow',
  });
  await grantEvent(given.database.db, given.gala.partnerId, ball.id);
  await expectEffect(
    () => revokeEvent(given.database.db, given.gala.partnerId, given.gala.eventId),
    ['00', '21'],
  );
  for (const client of clients(given.gala.secretKey, ball.ref))
    expect((await client.tickets()).body.responseCode).toBe('00');
});

test('an event that is opened to a partner is there', async () => {
  await revokeEvent(given.database.db, given.gala.partnerId, given.gala.eventId);
  await expectEffect(
    () => grantEvent(given.database.db, given.gala.partnerId, given.gala.eventId),
    ['21', '00'],
  );
});

const rotate = (keyId: string, overlapHours: number) =>
  given.database.db.transaction().execute((tx) => rotateKey(tx, keyId, overlapHours * HOUR_MS));

test('after a rotation with overlap both keys work until the old one ends', async () => {
  const successor = (await rotate(given.gala.keyId, 1))!;
  // By Postgres's clock, as of the rotation.
  const { created_at: rotatedAt } = await storedKey(successor.keyId);
  expect(successor.previousKeyEndsAt.getTime() - rotatedAt.getTime()).toBe(HOUR_MS);
  expect(await codesOf(given.gala.secretKey)).toEqual(['00', '00']);
  expect(await codesOf(successor.secretKey)).toEqual(['00', '00']);

  await expectEffect(() => expire(given.gala.keyId), ['00', '20']);
  expect(await codesOf(successor.secretKey)).toEqual(['00', '00']);
});

test('a rotation without overlap ends the old key', async () => {
  let successor: IssuedKey | undefined;
  await expectEffect(async () => (successor = await rotate(given.gala.keyId, 0)), ['00', '20']);
  expect(await codesOf(successor!.secretKey)).toEqual(['00', '00']);
});

const storedKey = (keyId: string) =>
  given.database.db
    .selectFrom('secret_keys')
    .selectAll()
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow();

const storedUse = async (keyId: string) => {
  const uses = tablesOf(given.database.db).selectFrom('secret_key_uses').select('hour');
  return (await uses.where('key_id', '=', keyId).executeTakeFirst())?.hour;
};

const noteOfUse = (keyId: string) => waitUntil('the use is noted', () => storedUse(keyId));

test('the use of a key is noted to the hour, again in every hour', async () => {
  expect(await storedUse(given.gala.keyId)).toBeUndefined();
  await codesOf(given.gala.secretKey);
  const noted = await noteOfUse(given.gala.keyId);
  const { created_at: createdAt } = await storedKey(given.gala.keyId);
  expect(noted.getTime() % HOUR_MS).toBe(0);
  // The hour in which the key was made, or the next one.
  expect(noted.getTime() + HOUR_MS).toBeGreaterThan(createdAt.getTime());

  const longAgo = new Date(noted.getTime() - 3 * HOUR_MS);
  await tablesOf(given.database.db)
    .updateTable('secret_key_uses')
    .set({ hour: longAgo })
    .where('key_id', '=', given.gala.keyId)
    .execute();
  await waitUntil('the next use is noted', async () => {
    await clock.advance(REMEMBERED_MS + 1);
    await codesOf(given.gala.secretKey);
    return (await noteOfUse(given.gala.keyId)) > longAgo;
  });
});

test('a key is never listed as used before it was made', async () => {
  expect(await listed()).toMatchObject({ lastUsedAt: null });
  await codesOf(given.gala.secretKey);
  await noteOfUse(given.gala.keyId);
  const { createdAt, lastUsedAt } = await listed();
  expect(lastUsedAt!.getTime()).toBeGreaterThanOrEqual(createdAt.getTime());
  const longAgo = new Date(createdAt.getTime() - 5 * HOUR_MS);
  await sql`update secret_keys set created_at = ${longAgo}`.execute(given.database.db);
  const noted = await noteOfUse(given.gala.keyId);
  expect((await listed()).lastUsedAt).toEqual(noted);

  async function listed() {
    return (await listKeys(given.database.db, given.gala.partnerId)).find(
      ({ keyId }) => keyId === given.gala.keyId,
    )!;
  }
});

test('where the use of a key cannot be noted, its requests do not fail', async () => {
  await sql`
    create function refuse_note() returns trigger language plpgsql as
      $$ begin raise exception 'not now'; end $$`.execute(given.database.db);
  await sql`create trigger refuse_note before insert on secret_key_uses execute function refuse_note()`.execute(
    given.database.db,
  );
  expect(await codesOf(given.gala.secretKey)).toEqual(['00', '00']);
  await sql`drop trigger refuse_note on secret_key_uses`.execute(given.database.db);
});

test('a key that is revoked while it is being rotated has no successor', async () => {
  const revocation = await given.database.db.startTransaction().execute();
  expect(await revokeKey(revocation, given.gala.keyId)).toEqual({ revoked: false });
  const rotation = rotate(given.gala.keyId, 1);
  await waitForLockWaiters(given.database.db, 1);
  await revocation.commit().execute();
  expect(await rotation).toBeUndefined();
  expect(await listKeys(given.database.db, given.gala.partnerId)).toHaveLength(1);
});

test('a key that was revoked or has expired has no successor', async () => {
  const expired = await issueKey(given.database.db, given.gala.partnerId, new Date(Date.now() - HOUR_MS));
  await revokeKey(given.database.db, given.gala.keyId);
  for (const { keyId } of [given.gala, expired]) expect(await rotate(keyId, 1)).toBeUndefined();
  expect(await listKeys(given.database.db, given.gala.partnerId)).toHaveLength(2);
});

test('a key is listed as open until it expires or is revoked', async () => {
  const [past, future] = [-HOUR_MS, HOUR_MS].map((inMs) => new Date(Date.now() + inMs));
  const { partnerId } = given.gala;
  const issued = [];
  for (const end of [null, future, past, null, past])
    issued.push((await issueKey(given.database.db, partnerId, end)).keyId);
  for (const keyId of issued.slice(3)) await revokeKey(given.database.db, keyId);
  const states = new Map(
    (await listKeys(given.database.db, partnerId)).map(({ keyId, state }) => [keyId, state]),
  );
  expect(issued.map((keyId) => states.get(keyId))).toEqual(['open', 'open', 'expired', 'revoked', 'revoked']);
});

test('a key that is revoked again was revoked when it was the first time', async () => {
  await revokeKey(given.database.db, given.gala.keyId);
  const first = (await storedKey(given.gala.keyId)).revoked_at;
  expect(first).not.toBeNull();
  expect(await revokeKey(given.database.db, given.gala.keyId)).toEqual({ revoked: true });
  expect((await storedKey(given.gala.keyId)).revoked_at).toEqual(first);
});

test('an attempt with a wrong secret is no use of the key', async () => {
  const other = await issueKey(given.database.db, given.gala.partnerId);
  expect(await codesOf(`${given.gala.secretKey.slice(0, -43)}${'A'.repeat(43)}`)).toEqual(['20', '20']);
  await codesOf(other.secretKey);
  await noteOfUse(other.keyId);
  expect(await storedUse(given.gala.keyId)).toBeUndefined();
});

test('of a secret, Postgres holds nothing but the hash', async () => {
  const secret = given.gala.secretKey.slice(-43);
  const { secret_hash: hash } = await storedKey(given.gala.keyId);
  expect(hash).toEqual(createHash('sha256').update(secret).digest());
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(secret_keys)::text as row from secret_keys where key_id = ${given.gala.keyId}`.execute(
    given.database.db,
  );
  for (const form of [
    secret,
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret, 'base64url').toString('hex'),
  ])
    expect(rows[0]!.row).not.toContain(form);
});
