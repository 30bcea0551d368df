import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { verifyPass } from '@floodgate/passes';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';
import { fetchPassKeys, readQrCode } from '../harness/passes.ts';
import { exchange, requestText } from '../harness/raw-http.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({ sharesEvent: true, own: 'finalizes everything in the database' });

test.override('ticket', {});

async function register(headers: Record<string, string> = {}): Promise<string> {
  return String((await given.partner.register(attendee(given.ticketId), headers)).body.responseData);
}

async function confirmed(): Promise<string> {
  const passReference = await register();
  await finalizePending(given.database.db, given.gala.shardId);
  return passReference;
}

interface PassData {
  pass: string;
  keyID: string;
  validFrom: string | null;
}
const passOf = async (passReference: string) =>
  (await given.partner.pass(passReference)).body.responseData as PassData;

const fetchPicture = (passReference: string, accept: string) =>
  fetch(`${given.api.baseUrl}/api/v1/events/registrations/${passReference}/pass`, {
    headers: { 'x-secret-key': given.gala.secretKey, 'x-event-ref': given.gala.eventRef, accept },
  });

test('a confirmed registration has a pass that verifies by the published keys alone', async () => {
  const passReference = await confirmed();
  const answer = await given.partner.pass(passReference);
  expect(answer.headers.get('vary')).toBe('accept');
  const { pass } = answer.body.responseData as PassData;
  expect(answer.body.responseData).toEqual({
    passReference,
    pass,
    keyID: '1',
    organizedEventID: given.gala.eventId,
    organizedEventTicketID: given.ticketId,
    validFrom: null,
    validUntil: null,
  });
  const serial = Number(passReference.split('-')[2]);
  expect(verifyPass(pass, await fetchPassKeys(given.api.baseUrl))).toMatchObject({
    eventId: given.gala.eventId,
    ticketId: given.ticketId,
    serial,
  });
  expect((await passOf(passReference)).pass).toBe(pass);
});

test('the published keys may be kept for a while', async () => {
  const response = await fetch(`${given.api.baseUrl}/.well-known/floodgate/pass-keys.json`);
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
});

test('the picture that is asked for shows the same pass', async () => {
  const passReference = await confirmed();
  const { pass } = await passOf(passReference);
  const response = await fetchPicture(passReference, 'image/png');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(readQrCode(new Uint8Array(await response.arrayBuffer()))).toBe(pass);
});

test.for([
  ['application/json', 'application/json; charset=utf-8'],
  ['*/*', 'application/json; charset=utf-8'],
  ['image/*', 'image/svg+xml'],
  ['image/png, */*;q=0.5', 'image/png'],
  ['image/png;q=0.2, image/svg+xml;q=0.9, application/json;q=0', 'image/svg+xml'],
  // A browser's, for a picture.
  ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'image/svg+xml'],
] as const)('Accept %s is answered %s', async ([accept, contentType]) => {
  const response = await fetchPicture(await confirmed(), accept);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, contentType]);
});

test.for(['text/html', 'application/json;q=0', 'nonsense', ''])('Accept %o is refused', async (accept) => {
  const answer = await given.partner.pass('GALA-1-1-1234567890', { accept });
  expectFailure(answer, '11', 422);
  expect(answer.body.responseMessage).toBe('Accept: application/json, image/svg+xml, image/png');
});

test('without Accept it is JSON', async () => {
  const headers = { host: 'api', 'x-secret-key': given.gala.secretKey, 'x-event-ref': given.gala.eventRef };
  const path = `/api/v1/events/registrations/${await confirmed()}/pass`;
  const { body } = await exchange(given.api.baseUrl, requestText(`GET ${path}`, headers));
  expect(body.responseCode).toBe('00');
});

test('whoever asks for a picture is refused in the envelope', async () => {
  const response = await fetchPicture('GALA-1-999999-1234567890', 'image/png');
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect([response.status, ((await response.json()) as { responseCode: string }).responseCode]).toEqual([
    404,
    '34',
  ]);
});

test('a guessed serial alone opens nothing', async () => {
  const passReference = await confirmed();
  for (const wrong of [passReference.replace(/\d{10}$/, '1000000000'), passReference.replace('GALA', 'BALL')])
    expectFailure(await given.partner.pass(wrong), '34');
});

test('what is reserved, held or cancelled has no pass', async () => {
  expectFailure(await given.partner.pass(await register()), '35');
  const held = await given.partner.pass(await register({ 'hold-for': '60' }));
  expectFailure(held, '35');
  expect(held.body.responseMessage).toBe('The registration is held; only a confirmed one has a pass');
  const passReference = await confirmed();
  await given.partner.cancel(passReference);
  expectFailure(await given.partner.pass(passReference), '35');
});

test('an event that moves changes the times of its passes, and not the passes', async () => {
  const passReference = await confirmed();
  const before = await passOf(passReference);
  const times = { startsAt: new Date('2026-12-01T18:00Z'), endsAt: new Date('2026-12-01T22:00Z') };
  await perform(given.database.db, updateEventAction, { eventId: given.gala.eventId, ...times }, 'jane');
  await waitUntil('the times are known', async () => (await passOf(passReference)).validFrom !== null);
  expect(await passOf(passReference)).toEqual({
    ...before,
    validFrom: '2026-11-30T18:00:00.000+00:00',
    validUntil: '2026-12-02T22:00:00.000+00:00',
  });
});
