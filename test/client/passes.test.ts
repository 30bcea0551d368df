import { createClient, verifyPass, type FloodgateClient } from '@floodgate/client';
import { grantEvent } from '@floodgate/events';
import { perform } from '@floodgate/audit';
import { rotatePassKeyAction } from '@floodgate/passes/actions';
import { expect, onTestFinished } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { readQrCode } from '../harness/passes.ts';

const { test, given } = apiTest({ sharesEvent: true, own: 'rotates the keys that sign passes' });

test.override('ticket', {});

function open(
  { secretKey, eventRef }: Pick<Fixture, 'secretKey' | 'eventRef'> = given.gala,
): FloodgateClient {
  const client = createClient({ baseUrl: given.api.baseUrl, secretKey, eventRef });
  onTestFinished(() => client.close());
  return client;
}

/** Registers and finalizes. Resolves to the pass reference. */
async function confirmed(client: FloodgateClient, ticket = given.ticketId): Promise<string> {
  const attendee = { fullName: 'Jane Doe', emailAddress: 'jane@example.com', organizedEventTicketID: ticket };
  const result = await client.register(attendee);
  for (const { shardId } of [given.gala]) await finalizePending(given.database.db, shardId);
  return result.code === '00' ? result.passReference : result.code;
}

async function tokenOf(client: FloodgateClient, passReference: string): Promise<string> {
  const result = await client.pass(passReference);
  return result.code === '00' ? result.pass.pass : result.code;
}

/** The door of an event and a partner, with what the client fetched. */
async function doorOf(client: FloodgateClient, { eventId, partnerId }: Fixture = given.gala) {
  const [keys, list] = [await client.passKeys(), await client.revokedPasses()];
  const { document: event } = await client.signedEvent();
  return { keys, eventId, partnerId, event, revocations: list.pages };
}

test('a pass comes as a token and as a picture of the same', async () => {
  const client = open();
  const passReference = await confirmed(client);
  const result = await client.pass(passReference);
  expect(result).toMatchObject({ code: '00', pass: { passReference, organizedEventID: given.gala.eventId } });
  const pass = await tokenOf(client, passReference);
  const png = await client.passPicture(passReference);
  expect(png.code === '00' && readQrCode(png.picture)).toBe(pass);
  const svg = await client.passPicture(passReference, { mediaType: 'image/svg+xml' });
  expect(svg.code === '00' && new TextDecoder().decode(svg.picture)).toMatch(/^<svg /);
  for (const failed of [client.pass, client.passPicture])
    expect(await failed('GALA-1-1-1234567890')).toMatchObject({ code: '34' });
});

test('a door admits a pass until the registration is cancelled and the list is fetched again', async () => {
  const client = open();
  const [kept, gone] = [await confirmed(client), await confirmed(client)];
  const tokens = [await tokenOf(client, kept), await tokenOf(client, gone)] as const;
  const before = await doorOf(client);
  for (const pass of tokens)
    expect(verifyPass(pass, before)).toMatchObject({ valid: true, ticketId: given.ticketId });
  await client.cancel(gone);
  await finalizePending(given.database.db, given.gala.shardId);
  const list = await client.revokedPasses({ keys: before.keys, pages: before.revocations });
  expect(list).toMatchObject({
    eventId: given.gala.eventId,
    partnerId: given.gala.partnerId,
    cursor: expect.any(String) as string,
  });
  // What has grown is fetched again, so that the chain stays as short as the list.
  expect(list.pages).toHaveLength(before.revocations.length);
  const door = { ...before, revocations: list.pages };
  expect(verifyPass(tokens[0], door)).toMatchObject({ valid: true });
  expect(verifyPass(tokens[1], door)).toEqual({ valid: false, reason: 'revoked' });
});

test("another event's and another partner's pages do not hide that a pass was revoked", async () => {
  const client = open();
  const passReference = await confirmed(client);
  const pass = await tokenOf(client, passReference);
  await client.cancel(passReference);
  await finalizePending(given.database.db, given.gala.shardId);
  const elsewhere = await createFixture(given.database.db);
  await grantEvent(given.database.db, elsewhere.partnerId, given.gala.eventId);
  const door = await doorOf(client);
  expect(verifyPass(pass, door)).toEqual({ valid: false, reason: 'revoked' });
  const otherEvent = await open(elsewhere).revokedPasses();
  const otherPartner = await open({ ...elsewhere, eventRef: given.gala.eventRef }).revokedPasses();
  expect(verifyPass(pass, { ...door, revocations: otherEvent.pages })).toEqual({
    valid: false,
    reason: 'revocations-other-event',
  });
  expect(verifyPass(pass, { ...door, revocations: otherPartner.pages })).toEqual({
    valid: false,
    reason: 'revocations-other-partner',
  });
});

test('after the key was rotated, old and new passes and pages hold with the new key set alone', async () => {
  const client = open();
  const before = await doorOf(client);
  const old = await tokenOf(client, await confirmed(client));
  await perform(given.database.db, rotatePassKeyAction, {}, 'jane');
  const isRotated = async () => (await client.passKeys()).keys.length > before.keys.keys.length;
  await expect.poll(isRotated).toBe(true);
  const after = await doorOf(client);
  const fresh = await tokenOf(client, await confirmed(client));
  for (const pass of [old, fresh]) expect(verifyPass(pass, after)).toMatchObject({ valid: true });
  const { event, revocations } = before;
  expect(verifyPass(old, { ...after, event, revocations })).toMatchObject({ valid: true });
  expect(verifyPass(fresh, before)).toEqual({ valid: false, reason: 'unknown-key' });
  expect(verifyPass(old, { ...before, revocations: after.revocations })).toEqual({
    valid: false,
    reason: 'revocations-unknown-key',
  });
  await expect(client.revokedPasses({ keys: before.keys })).rejects.toMatchObject({
    code: 'revocations-unknown-key',
  });
});

test('a list that is refused throws, by its code and without the key', async () => {
  const client = open({ ...given.gala, secretKey: 'fg_wrong' });
  await expect(client.revokedPasses()).rejects.toMatchObject({ name: 'FloodgateError', code: '20' });
});
