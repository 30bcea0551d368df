import { perform } from '@floodgate/audit';
import { HOUSE_PARTNER_ID } from '@floodgate/database';
import { revokeKeyAction } from '@floodgate/partners/actions';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { textOf } from '../harness/page-text.ts';
import { startApiProcess } from '../harness/service-process.ts';
import { createThings } from '../harness/things-of-event.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

const show = async (path: string, cookie: string) =>
  textOf(await (await given.request(path, { headers: { cookie } })).text());

test('the page of a partner says why it was refused in the last hour, and what to do', async () => {
  const { db, url } = given.database;
  const [fixture, other] = [await createFixture(db), await createFixture(db)];
  const ticketId = await fixture.addTicket({ capacity: 1 });
  const { cookie, session } = await given.addOperator('viewer');
  const at = `/partners/${fixture.partnerId}`;
  // A process of its own counts only these refusals.
  const api = await startApiProcess({ DATABASE_URL: url, QUEUE_URL: url });
  try {
    const partner = new PartnerClient(api.baseUrl, fixture);
    for (let count = 0; count < 3; count++) await partner.register(attendee(ticketId));
    const bulk = [attendee(ticketId), attendee(ticketId)];
    await partner.registerBulk(bulk);
    await new PartnerClient(api.baseUrl, { ...fixture, eventRef: other.eventRef }).tickets();
    await perform(db, revokeKeyAction, { keyId: fixture.keyId }, 'tests');
    await waitUntil('the key is refused', async () => (await partner.tickets()).status === 401);
    // A stranger with a wrong secret is nobody's fault.
    await new PartnerClient(api.baseUrl, {
      ...other,
      secretKey: `${other.secretKey.slice(0, -1)}!`,
    }).tickets();
    const refusals = async () =>
      (await given.call(session, `GET /partners/refusals?partnerId=${fixture.partnerId}`)).body as {
        code: string;
      }[];
    await waitUntil('the API has reported', async () => {
      const codes = (await refusals()).map(({ code }) => code);
      return ['20', '21', '32'].every((code) => codes.includes(code));
    });
    expect(await refusals()).toEqual(
      expect.arrayContaining([
        { partnerId: fixture.partnerId, code: '32', refusals: 4 },
        { partnerId: fixture.partnerId, code: '21', refusals: 1 },
      ]),
    );
    const text = await show(at, cookie);
    expect(text).toMatch(/Sold out, or the partner has sold its allocation Code 32 4 Raise the capacity/);
    expect(text).toMatch(/is not open to this partner.* Code 21 1 Let the partner sell the event/);
    expect(text).toMatch(/The key is expired, revoked .* Code 20 \d+ Look at the keys below/);
    expect(text).toContain('This partner has no open key, so it cannot sell.');
    expect(await show(`/partners/${other.partnerId}`, cookie)).toContain(
      'Nothing was refused in the last hour.',
    );
    expect(await show('/partners', cookie)).toMatch(/No key 1 0 no limit 1 \d+/);
  } finally {
    await api.end();
  }
});

test('forged counts of an API break no page', async () => {
  const { partnerId } = await createFixture(given.db);
  const { cookie } = await given.addOperator('viewer');
  for (const facts of [
    { refusedPartners: { [partnerId]: '<b>' } },
    { refusedPartners: [1] },
    'text',
    [],
    null,
  ])
    await sql`
      insert into processes (id, service, version, host, facts)
      values (gen_random_uuid(), 'api', '1', 'forged', ${JSON.stringify(facts)}::jsonb)`.execute(given.db);
  expect(await show(`/partners/${partnerId}`, cookie)).toContain('Nothing was refused in the last hour.');
});

test('a partner shows its events, keys, webhooks and changes by name, and each can be changed', async () => {
  const { partnerId, eventId } = await createThings(given.database);
  const { cookie } = await given.addOperator('owner');
  await given.request('/do/partnerLimit', {
    method: 'POST',
    body: new URLSearchParams({ partnerId: String(partnerId), requestsPerSecond: '1000' }),
    headers: { cookie },
  });
  const page = await (await given.request(`/partners/${partnerId}`, { headers: { cookie } })).text();
  const text = textOf(page);
  expect(text).toContain('1,000 requests a second');
  expect(text).toMatch(/changed the limit of requests per second of partner \w+ from none to 1,000/);
  expect(text).toMatch(/Webhooks Receiver Event State .* partner\.example Gala Works 0/);
  expect(page).toContain(`href="/events/${eventId}"`);
  for (const form of [
    'partnerContact',
    'partnerLimit',
    'partnerWeigh',
    'partnerDisable',
    'eventRevoke',
    'eventGrant',
  ])
    expect(page).toContain(`/do/${form}?`);
  for (const form of ['keyIssue', 'keyRotate', 'keyRevoke']) expect(page).toContain(`/do/${form}?`);
  const viewer = await given.addOperator('viewer');
  const seen = await given.request(`/partners/${partnerId}`, { headers: { cookie: viewer.cookie } });
  expect(await seen.text()).not.toContain('/do/');
});

test('the partner of guests is the house, without keys and limits', async () => {
  const { cookie } = await given.addOperator('owner');
  const page = await (await given.request(`/partners/${HOUSE_PARTNER_ID}`, { headers: { cookie } })).text();
  expect(textOf(page)).toContain('Your own guests');
  expect(page).toMatch(/<h1[^>]*>House/);
  expect(page).not.toContain('/do/');
  expect(await show('/partners', cookie)).toContain('House');
});
