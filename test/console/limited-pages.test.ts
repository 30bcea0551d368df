import { perform } from '@floodgate/audit';
import { revokeOperatorAction } from '@floodgate/operators';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { addressesOf, formsOf, readOperations } from '../harness/console-walk.ts';
import { formsIn } from '../harness/html-forms.ts';
import { createThings, missingThings, type ThingsOfEvent } from '../harness/things-of-event.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

/** Returns the addresses of all pages and streams about something of an event. */
const pagesOf = (things: ThingsOfEvent) => {
  const routes = given.pages.filter((route) =>
    /:(eventId|ticketId|webhookId|passReference|jobId)/.test(route),
  );
  return addressesOf(routes, { ...things });
};

/** Opens a page. A stream is not read to its end. */
async function open(path: string, cookie: string) {
  const abort = new AbortController();
  const answer = await given.request(path, { headers: { cookie }, signal: abort.signal });
  const isStream = answer.headers.get('content-type') === 'text/event-stream';
  const text = isStream ? '' : await answer.text();
  abort.abort();
  // The banner is about the installation, and can change from one page to the next.
  const stable = text.replace(/<div class="banner"[^]*?<\/div>/, '').replaceAll(/aria-current="page"/g, '');
  return { status: answer.status, text: stable.replaceAll(/\s+/g, ' ') };
}

test('the pages and streams of a foreign event are as those of one that does not exist', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'owner' });
  const missing = pagesOf(missingThings(other));
  for (const [index, path] of pagesOf(other).entries()) {
    const [foreign, absent] = [await open(path, cookie), await open(missing[index]!, cookie)];
    expect([path, foreign]).toEqual([path, absent]);
    expect(foreign.status).toBe(404);
  }
  for (const path of pagesOf(own)) expect([path, (await open(path, cookie)).status]).toEqual([path, 200]);
});

test('pages that belong to no event need a role for all events', async () => {
  const own = await createThings(given.database);
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'owner' });
  const paths = ['/partners', `/partners/${own.partnerId}`, '/access', '/do/partnerCreate'];
  for (const path of paths) expect([path, (await open(path, cookie)).status]).toEqual([path, 403]);
  const lists = ['/', '/deliveries', '/health', '/audit', '/account', '/help'];
  for (const path of lists) expect([path, (await open(path, cookie)).status]).toEqual([path, 200]);
  // What a page may be that is not named here. Old addresses lead to new ones.
  const others = given.pages.filter((route) => !/[:*]|^\/(sign-in|attendees|registrations)/.test(route));
  for (const path of others)
    expect([path, [200, 403]]).toEqual([path, expect.arrayContaining([(await open(path, cookie)).status])]);
  const deliveries = await open('/deliveries', cookie);
  expect(deliveries.text).not.toMatch(/Is everything on its way|Addresses that get no e-mails/);
});

/** Returns what can be chosen on a page: by the address of the form and the name of the field. */
function choicesIn(page: string) {
  const forms = Array.from(page.matchAll(/<form\b[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs));
  const all = forms.flatMap(([, action, form]) => [
    ...Array.from(form!.matchAll(/<select\b[^>]*name="(\w+)"[^>]*>(.*?)<\/select>/gs)).map(
      ([, name, options]) => [`${action} ${name}`, valuesIn(options!, 'option')] as const,
    ),
    ...Array.from(form!.matchAll(/<fieldset aria-describedby="(\w+)-hint">(.*?)<\/fieldset>/gs)).map(
      ([, name, boxes]) => [`${action} ${name}`, valuesIn(boxes!, 'input')] as const,
    ),
  ]);
  return new Map(all);
}

const valuesIn = (html: string, element: string) =>
  Array.from(html.matchAll(new RegExp(`<${element}\\b[^>]*value="([^"]+)"`, 'g')), ([, value]) => value!);

/** An owner of an event does not see all operators and shards, so it types their names. */
const TYPED = ['/do/operatorGrant name', '/do/operatorGrant role', '/do/eventMove shardId'];

/** Returns whether a field lacks its choices. A role that may not see what there is has no such field. */
const isEmpty = (field: string, values: readonly string[] | undefined, role: string) =>
  values === undefined ? role === 'owner' && !TYPED.includes(field) : values.length === 0;

test.for(['owner', 'door-manager'] as const)(
  'the forms of the %s of an event offer a choice wherever there is one, and none of a foreign event',
  async (role) => {
    const { database } = given;
    const [own, second, other] = [
      await createThings(database),
      await createThings(database),
      await createThings(database),
    ];
    const whole = await given.addOperator('owner');
    const limited = await given.addOperator(null, { [own.eventId]: role, [second.eventId]: role });
    const operations = await readOperations(given.consoleUrl);
    const { eventId, ticketId } = own;
    const asked = [{}, { eventId }, { eventId, ticketId }].flatMap((known) => formsOf(operations, known));
    const empty: string[] = [];
    const foreign: string[] = [];
    let partners = 0;
    for (const path of new Set([...asked, ...pagesOf(own), '/audit', '/deliveries', '/people'])) {
      const { status, text } = await open(path, limited.cookie);
      if (status === 403) continue;
      expect([path, status]).toEqual([path, 200]);
      const [found, all] = [choicesIn(text), choicesIn((await open(path, whole.cookie)).text)];
      for (const [field, values] of all)
        if (values.length > 0 && isEmpty(field, found.get(field), role)) empty.push(`${path}: ${field}`);
      for (const [field, values] of found) {
        if (field.endsWith(' partnerId') && values.includes(String(own.partnerId))) partners += 1;
        if (field.endsWith(' partnerId') && values.includes(String(other.partnerId)))
          foreign.push(`${path}: ${field}`);
      }
    }
    expect([empty, foreign]).toEqual([[], []]);
    expect(partners).toBeGreaterThan(role === 'owner' ? 5 : 0);
  },
);

test('an operator of an event lets a partner of its other event sell, and sees who it is', async () => {
  const [own, second] = [await createThings(given.database), await createThings(given.database)];
  const { cookie } = await given.addOperator(null, {
    [own.eventId]: 'operator',
    [second.eventId]: 'operator',
  });
  const form = await open(`/do/eventGrant?eventId=${own.eventId}`, cookie);
  expect(choicesIn(form.text).get('/do/eventGrant partnerId')).toEqual([String(second.partnerId)]);
  const fields = { eventId: String(own.eventId), partnerId: String(second.partnerId) };
  const body = new URLSearchParams({ ...fields, back: `/events/${own.eventId}/partners` });
  const answer = await given.request('/do/eventGrant', { method: 'POST', body, headers: { cookie } });
  expect(answer.status).toBe(303);
  const { rows } = await sql<{ name: string }>`
    select name from partners where id = ${second.partnerId}`.execute(given.db);
  const done = await open(answer.headers.get('location')!, cookie);
  expect(done.text).toMatch(new RegExp(`role="status".*${rows[0]!.name}.*</table>`));
});

test('an operator of an event sees what a job of its event could not do, pauses it, and no other job', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'operator' });
  for (const { jobId } of [own, other])
    await sql`
      insert into job_failures (shard_id, job_id, item, reason)
      select shard_id, id, '1', 'admitted' from jobs where id = ${jobId}`.execute(given.db);
  const { text } = await open(`/jobs/${own.jobId}`, cookie);
  expect(text).toContain('The seat has let in a person.');
  expect(text).toContain('/do/jobAbort?');
  const list = await open('/jobs', cookie);
  expect([list.text.includes(own.jobId), list.text.includes(other.jobId)]).toEqual([true, false]);
  const resume = async (jobId: string) => {
    const body = new URLSearchParams({ jobId });
    return (await given.request('/do/jobResume', { method: 'POST', body, headers: { cookie } })).status;
  };
  expect([await resume(own.jobId), await resume(other.jobId)]).toEqual([303, 404]);
});

test('an operator of an event starts a job on its event, and none on another', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'operator' });
  const start = async ({ eventId }: ThingsOfEvent) => {
    const path = `/do/eventCallOff?eventId=${eventId}`;
    const form = formsIn((await open(path, cookie)).text).find(({ action }) => action === '/do/eventCallOff');
    const body = new URLSearchParams(form?.values ?? { eventId: String(eventId), expect: '1' });
    const answer = await given.request('/do/eventCallOff', { method: 'POST', body, headers: { cookie } });
    return { status: answer.status, location: answer.headers.get('location') ?? '' };
  };
  const started = await start(own);
  expect(started.status).toBe(303);
  expect((await open(started.location, cookie)).status).toBe(200);
  expect((await start(other)).status).toBe(404);
});

test('the audit log, deliveries and webhooks show the own events only', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'operator' });
  const owner = await given.addOperator('owner');
  for (const { webhookId, eventId } of [own, other]) {
    await given.call(owner.session, `POST /webhooks/${webhookId}/pause`, {});
    await given.call(owner.session, `POST /events/${eventId}/mail/enable`, {});
  }
  const [audit, deliveries] = [await open('/audit', cookie), await open('/deliveries', cookie)];
  for (const { text } of [audit, deliveries]) {
    expect(text).toContain(`href="/events/${own.eventId}"`);
    expect(text).not.toContain(`href="/events/${other.eventId}"`);
    expect(text).toContain(`href="/webhooks/${own.webhookId}"`);
    expect(text).not.toContain(other.webhookId);
  }
  expect((await open(`/audit?eventId=${other.eventId}`, cookie)).status).toBe(404);
});

test('a form for a foreign event is refused as one for none, and changes nothing', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'operator' });
  const submit = async (eventId: number) => {
    const body = new URLSearchParams({ eventId: String(eventId), venue: 'Stolen' });
    const answer = await given.request('/do/eventUpdate', { method: 'POST', body, headers: { cookie } });
    return { status: answer.status, text: (await answer.text()).replaceAll(String(eventId), 'N') };
  };
  const foreign = await submit(other.eventId);
  expect(foreign.status).toBe(404);
  expect(foreign).toEqual(await submit(2_000_000_001));
  expect((await submit(own.eventId)).status).toBe(303);
  const { session } = await given.addOperator('viewer');
  const venue = async ({ eventId }: ThingsOfEvent) =>
    ((await given.call(session, `GET /events/${eventId}`)).body as { venue: string | null }).venue;
  expect([await venue(own), await venue(other)]).toEqual(['Stolen', null]);
});

test('pages show the own events and the actions of the role, and no figures of the installation', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { cookie } = await given.addOperator(null, { [own.eventId]: 'door-manager' });
  const launches = await open('/', cookie);
  expect(launches.text).toContain(`href="/events/${own.eventId}"`);
  expect(launches.text).not.toContain(`href="/events/${other.eventId}"`);
  expect(launches.text).not.toContain('/events/new');
  const event = await open(`/events/${own.eventId}`, cookie);
  expect(event.text).not.toContain('/do/');
  expect((await open(`/events/${own.eventId}/door`, cookie)).text).toContain('/do/gateCreate');
  const live = await open(`/live/${own.eventId}`, cookie);
  expect(live.text).toContain('Standing');
  expect(live.text).not.toMatch(/Waiting calls|Refused requests/);
});

test('a viewer of a stream whose role for the event ends sees no further snapshot', async () => {
  const own = await createThings(given.database);
  const [gone, stays] = [
    await given.addOperator(null, { [own.eventId]: 'viewer' }),
    await given.addOperator(null, { [own.eventId]: 'viewer' }),
  ];
  const abort = new AbortController();
  const watch = async (cookie: string) => {
    const source = { headers: { cookie }, signal: abort.signal };
    const { body } = await given.request(`/live/${own.eventId}/events`, source);
    const state = { snapshots: 0, isOver: false };
    const read = async () => {
      for await (const _ of body!) state.snapshots += 1;
    };
    void read()
      .catch(() => {})
      .finally(() => (state.isOver = true));
    return state;
  };
  const [first, second] = [await watch(gone.cookie), await watch(stays.cookie)];
  await waitUntil('snapshots', () => first.snapshots > 0 && second.snapshots > 0);
  const end = { name: gone.name, eventId: own.eventId };
  await perform(given.database.db, revokeOperatorAction, end, 'test');
  await waitUntil('the end of the stream', () => first.isOver);
  expect(second.isOver).toBe(false);
  abort.abort();
});
