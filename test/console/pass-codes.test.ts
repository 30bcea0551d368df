import type { DoorReport } from '@floodgate/door/console';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { createBusyDoor } from '../harness/busy-door.ts';
import { consoleTest } from '../harness/console-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { shownPage } from '../harness/shown-page.ts';

const { test, given } = consoleTest();

const WHOLE = /[A-Z][A-Z0-9]+-\d+-\d+-\d{10}/;
const MASKED = /[A-Z][A-Z0-9]+-\d+-\d+-…/;

/** Creates an event with every kind of fact about passes. */
async function createFacts() {
  const door = await createBusyDoor(given.database);
  const { db } = given.database;
  await finalizePending(db, 0);
  const { rows } = await sql<Record<'partnerId' | 'ticketId', number>>`
    select partner_id as "partnerId", ticket_id as "ticketId" from registrations
    where event_id = ${door.eventId} limit 1`.execute(db);
  return { ...door, ...rows[0]! };
}

test('without the right to see attendees, nothing shows the code of a pass reference', async () => {
  const { eventId, partnerId, ticketId, pass } = await createFacts();
  const masked = pass.replace(/\d{10}$/, '…');
  const scopes = [
    'registrations',
    'door',
    'events',
    'tickets',
    'passes',
    'audit',
    'mail',
    'webhooks',
    'partners',
  ];
  const token = await given.addToken(...scopes.map((area) => `${area}:read` as 'door:read'));
  const { cookie } = await given.addOperator('viewer');
  const texts: Record<string, string> = {};
  const ask = async (path: string, headers: Record<string, string>) => {
    texts[path] = await shownPage(() => given.request(path, { headers }));
  };
  // Every operation that reads, with the ids that it needs.
  const { paths } = (await (await given.request('/operator/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const ids = { eventId, partnerId, ticketId, passReference: encodeURIComponent(masked) };
  for (const [path, methods] of Object.entries(paths)) {
    if (!('get' in methods)) continue;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name as 'eventId'] ?? 1));
    await ask(`${filled}?eventId=${eventId}&partnerId=${partnerId}`, { authorization: `Bearer ${token}` });
  }
  for (const path of [
    `/events/${eventId}`,
    `/events/${eventId}/door`,
    `/events/${eventId}/door/conflicts`,
    `/people/${encodeURIComponent(masked)}`,
    `/events/${eventId}/door/story?passReference=${encodeURIComponent(masked)}`,
    '/audit',
  ])
    await ask(path, { cookie });
  const whole = Object.entries(texts).filter(([, text]) => WHOLE.test(text));
  expect(whole).toEqual([]);
  // The same facts are there, and lead to the registration.
  const shown = Object.entries(texts).filter(([, text]) => MASKED.test(text));
  expect(shown.map(([path]) => path.replace(/\?.*/, ''))).toEqual(
    expect.arrayContaining([
      `/operator/v1/events/${eventId}/registrations`,
      `/operator/v1/events/${eventId}/door-report`,
      `/operator/v1/registrations/${encodeURIComponent(masked)}`,
      `/events/${eventId}/door/conflicts`,
      `/people/${encodeURIComponent(masked)}`,
    ]),
  );
});

test('those who may see attendees see whole pass references', async () => {
  const { eventId, pass } = await createFacts();
  const token = await given.addToken('door:read', 'attendees:read');
  const path = `/operator/v1/events/${eventId}/door-report`;
  const answer = await given.request(path, { headers: { authorization: `Bearer ${token}` } });
  const { conflicts } = (await answer.json()) as DoorReport;
  expect(conflicts.map(({ passReference }) => passReference)).toEqual([pass]);
});
