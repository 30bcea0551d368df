import { createEvent, grantEvent, revokeEvent } from '@floodgate/events';
import { issueKey, revokeKey, rotateKey, type IssuedKey } from '@floodgate/partners';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { measuredWait } from '../harness/measured-wait.ts';
import { runCli } from '../harness/service-process.ts';
import { lastFalse } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'what other files left would change what is measured' });

// How soon changes of access take effect in real time. access.test.ts tests the rule by the clock of the APIs.

const HOUR_MS = 3_600_000;
/** What partners and operators were promised. */
const TAKES_EFFECT_WITHIN_MS = 2_000;

test.override('ticket', { capacity: 100_000 });

let apis: InProcessApi[];

test.beforeAll(async () => {
  apis = await Promise.all([1, 2].map(() => startInProcessApi({ DATABASE_URL: given.database.url })));
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()));
});

const clients = (secretKey = given.gala.secretKey, eventRef = given.gala.eventRef) =>
  apis.map((api) => new PartnerClient(api.baseUrl, { secretKey, eventRef }));

const codesOf = (secretKey: string) =>
  Promise.all(clients(secretKey).map(async (client) => (await client.tickets()).body.responseCode));

/** Registers one after another until the answer is no longer `before`; then it is `after`. Returns when `before` was last asked for. */
const change = (client: PartnerClient, before: string, after: string) =>
  lastFalse(`${after} takes the place of ${before}`, async () => {
    const { body } = await client.register(attendee(given.ticketId));
    if (body.responseCode === before) return false;
    expect(body.responseCode).toBe(after);
    return true;
  });

/** Does something under steady traffic on both APIs and expects it to take effect in time, and for good. */
async function expectEffect(
  act: () => Promise<unknown>,
  [before, after]: [string, string],
  secretKey = given.gala.secretKey,
): Promise<void> {
  const callers = clients(secretKey);
  for (const client of callers)
    expect((await client.register(attendee(given.ticketId))).body.responseCode).toBe(before);
  const changes = callers.map((client) => change(client, before, after));
  await act();
  const doneAt = performance.now();
  const reference = measuredWait(TAKES_EFFECT_WITHIN_MS, () => fetch(`${apis[0]!.baseUrl}/health/live`));
  const lasted = (await Promise.all(changes)).map((changedAt) => changedAt - doneAt);
  expect(Math.max(...lasted)).toBeLessThan(await reference);
  for (const client of [...callers, ...callers, ...callers])
    expect((await client.register(attendee(given.ticketId))).body.responseCode).toBe(after);
}

const expire = (keyId: string) =>
  given.database.db
    .updateTable('secret_keys')
    .set({ expires_at: sql<Date>`now()` })
    .where('key_id', '=', keyId)
    .execute();

test('all keys of a disabled partner are refused within 2 s, and accepted again when it is enabled', async () => {
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

test('a revoked key is refused within 2 s, by every API, and no other key with it', async () => {
  const other = await issueKey(given.database.db, given.gala.partnerId);
  await expectEffect(() => revokeKey(given.database.db, given.gala.keyId), ['00', '20']);
  expect(await codesOf(other.secretKey)).toEqual(['00', '00']);
});

test('a key that expires in use is refused within 2 s', async () => {
  const key = await issueKey(given.database.db, given.gala.partnerId, new Date(Date.now() + HOUR_MS));
  await expectEffect(() => expire(key.keyId), ['00', '20'], key.secretKey);
});

test('an event that is closed to a partner is gone for it within 2 s, and its other events are not', async () => {
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

test('an event that is opened to a partner is there within 2 s', async () => {
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
  const overlapMs = successor.previousKeyEndsAt.getTime() - Date.now();
  expect(overlapMs).toBeGreaterThan(0.9 * HOUR_MS);
  expect(overlapMs).toBeLessThanOrEqual(1.1 * HOUR_MS);
  expect(await codesOf(given.gala.secretKey)).toEqual(['00', '00']);
  expect(await codesOf(successor.secretKey)).toEqual(['00', '00']);

  await expectEffect(() => expire(given.gala.keyId), ['00', '20']);
  expect(await codesOf(successor.secretKey)).toEqual(['00', '00']);
});

test('a rotation without overlap ends the old key within 2 s', async () => {
  let successor: IssuedKey | undefined;
  await expectEffect(async () => (successor = await rotate(given.gala.keyId, 0)), ['00', '20']);
  expect(await codesOf(successor!.secretKey)).toEqual(['00', '00']);
});
