import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { WORDS } from '@floodgate/console/words';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { decoded, textOf } from '../harness/page-text.ts';
import { createThings } from '../harness/things-of-event.ts';

const { test, given } = consoleTest();

const ROOT = path.resolve(import.meta.dirname, '../..');
/** An action has its name in the audit log: "ticket.update". */
const NAMED =
  /(?:name: |define(?:Change|Archive)\(|insertAuditEntries\(\w+, \w+, )'([a-z]+\.[a-z]+(?:-[a-z]+)*)'/g;
/** Names of files, which look alike. */
const NO_ACTIONS = new Set(['pass.png', 'event.ics']);

/** Returns the names of all actions in the source. */
function actionsInSource() {
  const files = globSync(['packages/*/src/**/*.ts', 'apps/{cli,console}/src/**/*.ts'], { cwd: ROOT });
  const names = files
    .filter((file) => !file.includes('.test.'))
    .flatMap((file) =>
      Array.from(readFileSync(path.join(ROOT, file), 'utf8').matchAll(NAMED), ([, name]) => name!),
    );
  return [...new Set(names)].filter(
    (name) => !/\.(png|ics|ts|js|json|css|csv|html)$/.test(name) && !NO_ACTIONS.has(name),
  );
}

const show = async (at: string, cookie: string) => (await given.request(at, { headers: { cookie } })).text();

async function change(cookie: string, id: string, fields: Record<string, string | number>) {
  const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  const answer = await given.request(`/do/${id}`, { method: 'POST', body, headers: { cookie } });
  expect([id, answer.status]).toEqual([id, 303]);
}

test('each action has a sentence in each language, with the same places', () => {
  const actions = actionsInSource();
  expect(actions.length).toBeGreaterThan(60);
  const placesOf = (sentence: unknown) =>
    [...new Set(JSON.stringify(sentence).match(/\{[^}":]+\}/g))].toSorted();
  for (const [language, { audit }] of Object.entries(WORDS)) {
    expect([language, actions.filter((name) => !Object.hasOwn(audit.actions, name))]).toEqual([language, []]);
    // None is left of an action that is gone.
    expect([language, Object.keys(audit.actions).filter((name) => !actions.includes(name))]).toEqual([
      language,
      [],
    ]);
  }
  for (const name of actions)
    expect([name, placesOf(WORDS.de.audit.actions[name])]).toEqual([
      name,
      placesOf(WORDS.en.audit.actions[name]),
    ]);
});

test('a change is a sentence with names and links, and can be taken back', async () => {
  const fixture = await createFixture(given.db);
  const ticketId = await fixture.addTicket({ title: 'VIP', capacity: 3 });
  const { cookie, name } = await given.addOperator('owner');
  await change(cookie, 'ticketUpdate', { ticketId, capacity: 30 });
  const at = `/audit?eventId=${fixture.eventId}`;
  const page = await show(at, cookie);
  expect(textOf(page)).toMatch(
    new RegExp(
      `${name} changed the capacity of VIP from 3 to 30 ?, now|${name} changed the capacity of VIP from 3 to 30 ?, \\d+ seconds? ago`,
    ),
  );
  expect(page).toContain(`href="/events/${fixture.eventId}/tickets/${ticketId}"`);
  const german = await given.request(at, { headers: { cookie: `${cookie}; floodgate_language=de` } });
  expect(textOf(await german.text())).toContain(`${name} hat bei VIP die Kapazität von 3 auf 30 geändert`);
  const [, fields = ''] =
    /<form class="inline"[^>]*action="\/do\/ticketUpdate">([^]*?)<\/form>/.exec(page) ?? [];
  const undo = Object.fromEntries(
    Array.from(fields.matchAll(/name="(\w+)" value="([^"]*)"/g), ([, field, value]) => [field!, value!]),
  );
  expect(undo).toMatchObject({ ticketId: String(ticketId), capacity: '3' });
  await change(cookie, 'ticketUpdate', undo);
  expect(textOf(await show(at, cookie))).toMatch(/changed the capacity of VIP from 30 to 3/);
  // The older change is not what holds now.
  expect((await show(at, cookie)).match(/<form class="inline" method="post"/g)).toHaveLength(1);
});

test('the list is limited to an event, a person, an action or a thing, and has pages', async () => {
  const [fixture, other] = [await createFixture(given.db), await createFixture(given.db)];
  const { cookie, name, session } = await given.addOperator('owner');
  const ticketId = await fixture.addTicket({ title: 'Balcony' });
  for (let capacity = 1; capacity <= 60; capacity++)
    await given.call(session, `PATCH /tickets/${ticketId}`, { capacity });
  await change(cookie, 'eventUpdate', { eventId: other.eventId, venue: 'Town Hall' });
  const count = async (query: string) => {
    const text = textOf(await show(`/audit?${query}`, cookie));
    return {
      capacity: text.match(/changed the capacity of Balcony/g)?.length ?? 0,
      venue: /Town Hall/.test(text),
    };
  };
  expect(await count(`actor=${encodeURIComponent(name)}`)).toEqual({ capacity: 49, venue: true });
  expect(await count(`eventId=${fixture.eventId}`)).toEqual({ capacity: 50, venue: false });
  expect(await count(`subject=ticket:${ticketId}&action=ticket.update`)).toEqual({
    capacity: 50,
    venue: false,
  });
  expect(await count(`action=event.update&actor=${encodeURIComponent(name)}`)).toEqual({
    capacity: 0,
    venue: true,
  });
  const first = await show(`/audit?subject=ticket:${ticketId}`, cookie);
  const [, older = ''] = /href="(\/audit\?[^"]*after=[^"]*)"/.exec(decoded(first)) ?? [];
  const rest = textOf(await show(older, cookie));
  expect(rest.match(/changed the capacity of Balcony/g)).toHaveLength(10);
  expect(rest).toContain('Newest changes');
  expect((await given.request('/audit?after=forged', { headers: { cookie } })).status).toBe(422);
});

test('sentences name partners, operators, webhooks, devices and jobs, and tell nobody the code of a pass', async () => {
  const things = await createThings(given.database);
  const { eventId, partnerId, passReference } = things;
  const owner = await given.addOperator('owner');
  const viewer = await given.addOperator('viewer');
  await change(owner.cookie, 'eventRevoke', { eventId, partnerId });
  await change(owner.cookie, 'eventGrant', { eventId, partnerId });
  await change(owner.cookie, 'operatorGrant', { name: viewer.name, eventId, role: 'door-manager' });
  await change(owner.cookie, 'webhookPause', { webhookId: things.webhookId });
  await change(owner.cookie, 'registrationCancel', { passReference });
  const { rows } = await sql<{ name: string }>`select name from partners where id = ${partnerId}`.execute(
    given.db,
  );
  const partner = rows[0]!.name;
  const text = textOf(await show(`/audit?eventId=${eventId}`, owner.cookie));
  expect(text).toMatch(new RegExp(`stopped ${partner} from selling Gala`));
  expect(text).toMatch(new RegExp(`let ${partner} sell Gala`));
  expect(text).toMatch(new RegExp(`made ${viewer.name} Door manager of Gala`));
  expect(text).toMatch(new RegExp(`paused a webhook of ${partner}`));
  expect(text).toContain(`cancelled ${passReference}`);
  const seen = await show(`/audit?eventId=${eventId}`, viewer.cookie);
  const code = passReference.slice(-10);
  expect(seen).toContain(passReference.replace(code, ''));
  expect(seen).not.toContain(code);
});
