import { createPassSigner, verifyPass } from '@floodgate/passes';
import { cancelRegistrationAction } from '@floodgate/registrations/actions';
import { updateEventAction } from '@floodgate/events/actions';
import { perform } from '@floodgate/audit';

import { findRegistrations, passReferenceOf } from '@floodgate/registrations';
import { expect } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { eventTest } from '../harness/event-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { readRevocations } from '../harness/passes.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = eventTest({ sharesEvent: true, own: 'rotates the keys that sign passes' });

const pass = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, 'pass', ...args);

/** Runs a command with --json and returns its document. */
async function documentOf<Document>(...args: string[]): Promise<Document> {
  const { code, output } = await pass(...args, '--json');
  expect([code, output]).toEqual([0, output]);
  return JSON.parse(output) as Document;
}

async function registered(): Promise<string> {
  const { serial } = await commitBatch(given.database.db, given.gala);
  const { shardId, partnerId, eventId } = given.gala;
  const [row] = await findRegistrations(given.database.db, [{ shardId, partnerId, eventId, serial }]);
  return passReferenceOf(row!);
}

async function confirmed(): Promise<string> {
  const passReference = await registered();
  await finalizePending(given.database.db, given.gala.shardId);
  return passReference;
}

const cancel = (passReference: string) =>
  perform(given.database.db, cancelRegistrationAction, { passReference }, 'jane');
const showToken = async (passReference: string) =>
  (await documentOf<{ pass: string }>('show', passReference)).pass;

test('a pass that is shown verifies, until its registration is cancelled', async () => {
  const passReference = await confirmed();
  const token = await showToken(passReference);
  expect((await pass('show', passReference)).output).toContain(`\n${token}\n`);
  expect(await pass('verify', token)).toEqual({
    code: 0,
    output: expect.stringMatching(new RegExp(`^event +${given.gala.eventId}\n`)) as string,
  });
  await cancel(passReference);
  expect(await pass('verify', token)).toEqual({
    code: 1,
    output: expect.stringContaining('revoked: the registration was cancelled') as string,
  });
});

test("a test event's pass is said to be one", async () => {
  const trial = await createFixture(given.database.db, 'allow', 'test');
  const { serial } = await commitBatch(given.database.db, trial);
  await finalizePending(given.database.db, trial.shardId);
  const { shardId, partnerId, eventId } = trial;
  const [row] = await findRegistrations(given.database.db, [{ shardId, partnerId, eventId, serial }]);
  const token = await showToken(passReferenceOf(row!));
  expect((await pass('verify', token)).output).toMatch(/^mode +test/);
  expect(await documentOf('verify', token)).toMatchObject({ valid: true, mode: 'test' });
  const live = await showToken(await confirmed());
  expect((await pass('verify', live)).output).not.toMatch(/^mode/m);
  expect(await documentOf('verify', live)).toMatchObject({ valid: true, mode: 'live' });
});

test('what does not verify is told why, and nothing but a confirmed registration is shown', async () => {
  const token = await showToken(await confirmed());
  const altered = token.slice(0, -2) + (token.at(-2) === '0' ? '1' : '0') + token.at(-1)!;
  const reasons: [string, string][] = [
    ['FG2.ABC', 'not a pass'],
    [altered, 'forged or altered'],
    [token.replace(/^FG2\.0{3}\w/, 'FG2.VVVV'), 'signed with an unknown key'],
  ];
  for (const [wrong, reason] of reasons)
    expect(await pass('verify', wrong)).toEqual({
      code: 1,
      output: expect.stringContaining(reason) as string,
    });
  expect(await pass('show', await registered())).toEqual({
    code: 1,
    output: expect.stringContaining(
      'the registration is reserved; only a confirmed one has a pass',
    ) as string,
  });
  expect((await pass('show', 'GALA-1-1-1234567890')).output).toContain('no such registration');
});

test('a pass of an event that is over is no longer valid', async () => {
  const passReference = await confirmed();
  const endsAt = new Date('2020-01-01Z');
  await perform(given.database.db, updateEventAction, { eventId: given.gala.eventId, endsAt }, 'jane');
  expect((await pass('verify', await showToken(passReference))).output).toContain('no longer valid');
  await perform(given.database.db, updateEventAction, { eventId: given.gala.eventId, endsAt: null }, 'jane');
});

test('an event is signed with its current times, and every change raises its revision', async () => {
  const eventId = String(given.gala.eventId);
  const before = await documentOf<{ event: string; revision: number }>('event', eventId);
  const startsAt = new Date('2030-01-01T18:00Z');
  await perform(given.database.db, updateEventAction, { eventId: given.gala.eventId, startsAt }, 'jane');
  const { event, revision } = await documentOf<typeof before>('event', eventId);
  expect(revision).toBe(before.revision + 1);
  expect(JSON.parse(Buffer.from(event.split('.')[1]!, 'base64url').toString())).toMatchObject({
    eventRef: given.gala.eventRef,
    revision,
    startsAt: '2030-01-01T18:00:00.000+00:00',
    validFrom: '2029-12-31T18:00:00.000+00:00',
    validUntil: null,
  });
  await perform(
    given.database.db,
    updateEventAction,
    { eventId: given.gala.eventId, startsAt: null },
    'jane',
  );
  expect((await pass('event', '999999')).output).toContain('no such event');
});

test("the list of an event's revoked passes is signed and can be read on", async () => {
  const { publicKeys } = await createPassSigner(given.database).keys();
  const references = [await confirmed(), await confirmed()];
  const before = await documentOf<{ cursor: string }>('revoked', String(given.gala.eventId));
  for (const passReference of references) await cancel(passReference);
  await finalizePending(given.database.db, given.gala.shardId);
  const { revocations } = await documentOf<{ revocations: string }>(
    'revoked',
    String(given.gala.eventId),
    '--after',
    before.cursor,
  );
  const page = readRevocations(revocations, publicKeys);
  expect(page).toMatchObject({ event: given.gala.eventId, partner: null, after: before.cursor });
  expect(page.serials).toEqual(references.map((reference) => Number(reference.split('-')[2])));
  expect((await pass('revoked', '999999')).output).toContain('no such event');
});

test('keys are listed, rotated and withdrawn; what a withdrawn key signed is not valid', async () => {
  const token = await showToken(await confirmed());
  expect((await pass('withdraw', '1')).output).toContain('the key still signs passes; rotate first');
  const rotated = await pass('rotate', '--by', 'jane');
  expect([rotated.code, rotated.output]).toEqual([0, expect.stringContaining('key 2 signs')]);
  expect((await pass('verify', token)).code).toBe(0);
  expect((await pass('withdraw', '1', '--by', 'jane')).code).toBe(0);
  expect((await pass('verify', token)).output).toContain('was withdrawn');
  const { output } = await pass('keys');
  expect(output).toMatch(/^key +state.*\n +2 +signs .*\n +1 +withdrawn /);
  const stored = await given.database.db.selectFrom('pass_keys').select('private_key').execute();
  for (const { private_key } of stored) expect(output).not.toContain(private_key.toString('hex'));
  expect(verifyPass(token, new Map())).toBe('unknown-key');
});
