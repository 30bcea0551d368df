import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { perform, readAuditLog } from '@floodgate/audit';
import { buildProgram } from '@floodgate/cli/program';
import { createEvent, findEvent } from '@floodgate/events';
import type { Preview } from '@floodgate/mail/preview';
import { createPassSigner, type Revocations } from '@floodgate/passes';
import { findRegistrations, passReferenceOf } from '@floodgate/registrations';
import { cancelRegistrationAction } from '@floodgate/registrations/actions';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect } from 'vitest';
import { addOperator, addToken, call, database, request, test } from '../harness/console-test.ts';
import { commitBatch } from '../harness/committed-batch.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';

/** The operations of the document, each as "GET /events" with its id. */
async function operations(): Promise<{ route: string; id: string }[]> {
  const response = await request('/operator/v1/openapi.json');
  const { paths } = (await response.json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id }]) => ({
      route: `${method.toUpperCase()} ${path.replace('/operator/v1', '')}`,
      id,
    })),
  );
}

describe('who may do what', () => {
  /** Each operation, by the roles that may use it. */
  const ALLOWED: Record<string, string[]> = {
    'viewer, operator, owner': [
      'GET /access',
      'GET /audit',
      'GET /backlog',
      'GET /batches/failed',
      'GET /events',
      'GET /events/{eventId}',
      'GET /events/{eventId}/devices',
      'GET /events/{eventId}/door-report',
      'GET /events/{eventId}/gates',
      'GET /events/{eventId}/mail/preview',
      'GET /events/{eventId}/passes/event',
      'GET /events/{eventId}/passes/revoked',
      'GET /events/{eventId}/registrations',
      'GET /events/{eventId}/tickets',
      'GET /events/{eventId}/webhooks',
      'GET /keys',
      'GET /mail',
      'GET /mail/suppressions',
      'GET /operators',
      'GET /partners',
      'GET /passes/keys',
      'GET /processes',
      'GET /reconcile',
      'GET /registrations/{passReference}',
      'GET /shards',
      'GET /tickets/{ticketId}/allocations',
      'GET /tickets/{ticketId}/waiting-list',
      'GET /webhooks/{webhookId}',
      'GET /webhooks/{webhookId}/attempts',
      'POST /passes/verify',
    ],
    'operator, owner': [
      'DELETE /events/{eventId}/partners/{partnerId}',
      'DELETE /keys/{keyId}',
      'DELETE /passes/keys/{keyId}',
      'DELETE /webhooks/{webhookId}',
      'GET /events/{eventId}/attendees',
      'GET /registrations/{passReference}/attendee',
      'PATCH /events/{eventId}',
      'PATCH /events/{eventId}/gates/{gateId}',
      'PATCH /registrations/{passReference}/attendee',
      'PATCH /tickets/{ticketId}',
      'PATCH /webhooks/{webhookId}',
      'POST /attendees/find',
      'POST /batches/redrive',
      'POST /events',
      'POST /events/{eventId}/archive',
      'POST /events/{eventId}/devices',
      'POST /events/{eventId}/devices/{deviceId}/code',
      'POST /events/{eventId}/devices/{deviceId}/revoke',
      'POST /events/{eventId}/gates',
      'POST /events/{eventId}/mail/disable',
      'POST /events/{eventId}/mail/enable',
      'POST /events/{eventId}/mail/pause',
      'POST /events/{eventId}/mail/resend',
      'POST /events/{eventId}/mail/resume',
      'POST /events/{eventId}/move',
      'POST /events/{eventId}/notify-holders',
      'POST /events/{eventId}/restore',
      'POST /events/{eventId}/tickets',
      'POST /events/{eventId}/tickets/resume-all',
      'POST /events/{eventId}/tickets/stop-all',
      'POST /events/{eventId}/webhooks',
      'POST /keys/{keyId}/rotate',
      'POST /mail/suppressions/remove',
      'POST /mail/test',
      'POST /partners',
      'POST /partners/{partnerId}/keys',
      'POST /passes/keys',
      'POST /registrations/{passReference}/attendee',
      'POST /registrations/{passReference}/cancel',
      'POST /registrations/{passReference}/resend',
      'POST /webhooks/{webhookId}/pause',
      'POST /webhooks/{webhookId}/replay',
      'POST /webhooks/{webhookId}/resume',
      'POST /webhooks/{webhookId}/rotate',
      'POST /webhooks/{webhookId}/test',
      'PUT /events/{eventId}/partners/{partnerId}',
      'PUT /partners/{partnerId}/contact',
      'PUT /partners/{partnerId}/disabled',
      'PUT /partners/{partnerId}/limit',
      'PUT /partners/{partnerId}/weight',
      'PUT /tickets/{ticketId}/allocations/{partnerId}',
    ],
    owner: [
      'DELETE /access/{accessId}',
      'PATCH /operators/{name}',
      'POST /operators',
      'POST /operators/{name}/reset-password',
      'POST /operators/{name}/sign-out',
      'POST /tokens',
    ],
  };

  test('each operation is open to the roles of the table, and to nobody without a sign-in', async () => {
    const roles = {
      nobody: '',
      viewer: (await addOperator('viewer')).session,
      operator: (await addOperator('operator')).session,
      owner: (await addOperator('owner')).session,
    };
    const found: Record<string, string[]> = {};
    for (const { route } of await operations()) {
      // No such thing has this id or name, so an allowed request changes nothing.
      const asked = route.replaceAll(/\{\w+\}/g, '999999');
      const statuses: string[] = [];
      for (const [role, session] of Object.entries(roles)) {
        const { status } = await call(session, asked, asked.startsWith('GET') ? undefined : {});
        expect(status, `${role}: ${route}`).toBeLessThan(500);
        const isRefused = status === (role === 'nobody' ? 401 : 403);
        if (!isRefused) statuses.push(role);
      }
      (found[statuses.join(', ')] ??= []).push(route);
    }
    expect(Object.keys(found)).toHaveLength(3);
    for (const [who, routes] of Object.entries(ALLOWED)) expect(found[who]?.toSorted(), who).toEqual(routes);
  });

  test('a token may do what its scopes say, until it is revoked', async () => {
    const token = await addToken('events:read');
    expect((await call(token, 'GET /events')).status).toBe(200);
    const refused = await call(token, 'POST /events', {
      name: 'Gala',
      passPrefix: 'GALA',
      duplicatePolicy: 'allow',
    });
    expect(refused).toMatchObject({ status: 403, body: { detail: 'It requires events:write.' } });
    const owner = await addOperator('owner');
    const { status } = await call(owner.session, `DELETE /access/${token.slice(4, 20)}`);
    expect(status).toBe(200);
    expect((await call(token, 'GET /events')).status).toBe(401);
  });

  test('a session ends with its operator', async () => {
    const viewer = await addOperator('viewer');
    const owner = await addOperator('owner');
    const path = `/operators/${encodeURIComponent(viewer.name)}`;
    expect((await call(viewer.session, 'GET /events')).status).toBe(200);
    expect((await call(owner.session, `PATCH ${path}`, { disabled: true })).status).toBe(200);
    expect((await call(viewer.session, 'GET /events')).status).toBe(401);
    // A session does not come back with its operator.
    await call(owner.session, `PATCH ${path}`, { disabled: false });
    expect((await call(viewer.session, 'GET /events')).status).toBe(401);
  });

  test('another role applies to open sessions at once', async () => {
    const [viewer, owner] = [await addOperator('viewer'), await addOperator('owner')];
    const event = { name: 'Gala', passPrefix: 'GALA', duplicatePolicy: 'allow' };
    expect((await call(viewer.session, 'POST /events', event)).status).toBe(403);
    await call(owner.session, `PATCH /operators/${encodeURIComponent(viewer.name)}`, { role: 'operator' });
    expect((await call(viewer.session, 'POST /events', event)).status).toBe(200);
  });
});

test('the books are compared with the role of the console', async () => {
  const { session } = await addOperator('viewer');
  expect((await call(session, 'GET /reconcile')).status).toBe(200);
});

test('the pages lead to the allocations of a ticket, and to another attendee of a registration', async () => {
  const [fixture, { cookie }] = [await createFixture(database.db), await addOperator('owner')];
  const { serial } = await commitBatch(database.db, fixture);
  const show = async (path: string) => (await request(path, { headers: { cookie } })).text();
  const [row] = await findRegistrations(database.db, [{ ...fixture, serial }]);
  expect(await show(`/registrations?passReference=${passReferenceOf(row!)}`)).toContain(
    '/do/registrationReplace?',
  );
  const path = `/tickets/${row!.ticketId}/allocations`;
  expect(await show(`/events/${fixture.eventId}`)).toContain(path);
  expect(await show(path)).toContain('/do/ticketAllocate?');
});

describe('the commands', () => {
  /** Commands without an operation, each with the reason. The page of the operator API names them, too. */
  const NO_OPERATION = {
    migrate: 'needs the role that owns the tables',
    grant: 'needs the role that owns the tables',
    'pass show': 'makes a pass, which needs a private key',
    status: 'asks the queue, which the console does not use; backlogShow has the rest',
    'queue status': 'the same command',
    rehearse: 'sends requests to the API, as a partner',
  };
  /** Operations whose names are not the words of the command. */
  const OTHER_NAMES: Record<string, string> = {
    'partner enable': 'partnerDisable',
    'mail suppressions list': 'suppressionList',
    'mail suppressions remove': 'mailUnsuppress',
    'waiting-list list': 'waitingList',
    'shard move': 'eventMove',
    'registration export': 'attendeeExport',
    'pass keys': 'passKeyList',
    'queue failed': 'batchFailed',
    redrive: 'batchRedrive',
    'access create-token': 'tokenCreate',
    audit: 'auditList',
  };

  interface Branch {
    name(): string;
    commands: readonly Branch[];
  }
  const leavesOf = (command: Branch, path: string[] = []): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));

  test('each has an operation, or a reason to have none', async () => {
    const ids = new Set((await operations()).map(({ id }) => id));
    const { env, stdout, stderr } = process;
    const commands = leavesOf(buildProgram({ env, stdout, stderr }));
    const inCamelCase = (name: string) =>
      name.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase());
    const without = commands.filter((name) => !ids.has(OTHER_NAMES[name] ?? inCamelCase(name)));
    expect(without.toSorted()).toEqual(Object.keys(NO_OPERATION).toSorted());
    const page = await readFile('apps/docs/operate/console.md', 'utf8');
    for (const command of without) expect(page).toContain(`\`${command}\``);
    expect(commands).toEqual(expect.arrayContaining(Object.keys(OTHER_NAMES)));
  });
});

describe('what doors and attendees get', () => {
  async function registered() {
    const fixture = await createFixture(database.db);
    const { serial } = await commitBatch(database.db, fixture);
    await finalizePending(database.db, fixture.shardId);
    const [row] = await findRegistrations(database.db, [{ ...fixture, serial }]);
    return { ...fixture, row: row! };
  }

  test('a pass is checked, by a viewer too, with the public key alone', async () => {
    const [{ row }, viewer] = [await registered(), await addOperator('viewer')];
    const { serial, eventId, ticketId } = row;
    const token = await createPassSigner(database).tokenFor(row);
    const verify = async (text: string) => call(viewer.session, 'POST /passes/verify', { token: text });
    const pass = { serial, eventId, ticketId };
    expect(await verify(token)).toMatchObject({ status: 200, body: { valid: true, mode: 'live', pass } });
    const forged = token.slice(0, -2) + (token.at(-2) === '0' ? '1' : '0') + token.at(-1)!;
    expect((await verify(forged)).body).toMatchObject({ valid: false, pass, problem: 'forged' });
    expect((await verify('FG2.ABC')).body).toMatchObject({ valid: false, problem: 'malformed' });
    const form = { method: 'POST', body: new URLSearchParams({ token }), headers: { cookie: viewer.cookie } };
    const shown = await (await request('/do/passVerify', form)).text();
    expect(shown).toMatch(/<dt>Valid<\/dt>\s*<dd>yes/);
  });

  test('a pass from before public keys were stored is not called invalid', async () => {
    const [{ row }, { session }] = [await registered(), await addOperator('viewer')];
    const token = await createPassSigner(database).tokenFor(row);
    await database.db.updateTable('pass_keys').set({ public_key: null }).execute();
    const detail = expect.stringContaining('try again then') as string;
    const early = await call(session, 'POST /passes/verify', { token });
    expect(early).toMatchObject({ status: 409, body: { detail } });
    await createPassSigner(database).keys();
    const later = await call(session, 'POST /passes/verify', { token });
    expect(later.body).toMatchObject({ valid: true });
  });

  test('the event and the revoked passes of doors are shown without a signature', async () => {
    const [{ row, eventId, shardId }, { session }] = [await registered(), await addOperator('viewer')];
    const event = await call(session, `GET /events/${eventId}/passes/event`);
    expect(event).toMatchObject({ status: 200, body: { event: eventId, revision: 1, venue: null } });
    await perform(database.db, cancelRegistrationAction, { passReference: passReferenceOf(row) }, 'jane');
    await finalizePending(database.db, shardId);
    const list = `GET /events/${eventId}/passes/revoked`;
    const { cursor, ...revoked } = (await call(session, list)).body as Revocations;
    expect(revoked).toMatchObject({ partner: null, more: false, serials: [row.serial] });
    expect((await call(session, `${list}?after=${cursor}`)).body).toMatchObject({
      after: cursor,
      serials: [],
    });
    const after = expect.stringContaining('does not reach this cursor') as string;
    const ahead = await call(session, `${list}?after=999999`);
    expect(ahead).toMatchObject({ status: 422, body: { invalid: { after } } });
  });

  test('an e-mail is composed with made-up data', async () => {
    const [{ eventId }, { session }] = [await createFixture(database.db), await addOperator('viewer')];
    const route = `GET /events/${eventId}/mail/preview`;
    const from = encodeURIComponent('Gala <gala@events.example>');
    const { html, text, eml } = (await call(session, `${route}?language=de&from=${from}`)).body as Preview;
    expect(text).toContain('Guten Tag Ada Lovelace');
    expect(html).toContain('src="data:image/png;base64,');
    expect(eml).toMatch(/^From: Gala <gala@events\.example>\r$/m);
    expect((await call(session, `${route}?notice=true`)).body).toMatchObject({
      text: expect.stringContaining('webhook') as string,
    });
    expect(await call(session, `${route}?from=nobody`)).toMatchObject({
      status: 422,
      body: { invalid: { from: 'an address or Name <address>' } },
    });
  });
});

describe('input', () => {
  test('is checked by the rules of the command line, each named', async () => {
    const token = await addToken('tickets:write');
    const { eventId } = await createFixture(database.db);
    const body = { title: '', capacity: '5', saleStartsAt: '2026-11-21' };
    expect(await call(token, `POST /events/${eventId}/tickets`, body)).toEqual({
      status: 422,
      body: {
        status: 422,
        title: 'Invalid input',
        invalid: {
          title: '1 to 255 characters, no control characters, no space around them',
          capacity: 'a whole number from 0 to 2147483647',
          saleStartsAt: 'a time, or none',
        },
      },
    });
  });

  test('times have an offset, null is none, and an absent field stays as it is', async () => {
    const token = await addToken('events:write');
    const { eventId } = await createFixture(database.db);
    const starts = '2027-01-31T20:00:00+01:00';
    await call(token, `PATCH /events/${eventId}`, { startsAt: starts, venue: 'Town Hall' });
    await call(token, `PATCH /events/${eventId}`, { venue: null });
    expect(await findEvent(database.db, eventId)).toMatchObject({ startsAt: new Date(starts), venue: null });
  });

  test('the document of the operator API is valid', async () => {
    const text = await (await request('/operator/v1/openapi.json')).text();
    const { valid, errors } = await new Validator().validate(JSON.parse(text) as Record<string, never>);
    expect([valid, errors]).toEqual([true, undefined]);
    expect(text).not.toMatch(/"type":"(?:RegExp|Date)"/);
  });

  test.for([
    ['an event that does not exist', 'GET /events/999999', 404],
    ['a partner that does not exist', 'PUT /events/999999/partners/999999', 404],
    ['an id that is none', 'GET /events/x', 422],
    ['a path that does not exist', 'GET /nothing', 404],
  ] as const)('%s gets a problem', async ([, route, status]) => {
    const answer = await call(await addToken('events:read', 'events:write'), route);
    expect(answer).toMatchObject({ status, body: { status } });
  });

  test('a change is in the audit log with the name of the token or operator', async () => {
    const [token, operator] = [await addToken('events:write'), await addOperator('operator')];
    const { id } = await createEvent(database.db, {
      name: 'Gala',
      passPrefix: 'GALA',
      duplicatePolicy: 'allow',
    });
    await call(token, `PATCH /events/${id}`, { venue: 'Hall 1' });
    await call(operator.session, `PATCH /events/${id}`, { venue: 'Hall 2' });
    const entries = await readAuditLog(database.db, { subject: `event:${id}`, limit: 10 });
    expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
      [operator.name, 'event.update'],
      [expect.stringMatching(/^token:token \d+$/), 'event.update'],
    ]);
  });
});

describe('the sign-in', () => {
  const signIn = (name: string, password: string, headers: Record<string, string> = {}) =>
    request('/sign-in', { method: 'POST', body: new URLSearchParams({ name, password }), headers });

  test('opens a session with the right password', async () => {
    const { name, password } = await addOperator('viewer');
    const answer = await signIn(name, password);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    const cookie = answer.headers.get('set-cookie')!;
    expect(cookie).toMatch(/^floodgate_session=fgo_\S+; Path=\/; HttpOnly; SameSite=Lax$/);
    const page = await request('/', { headers: { cookie: cookie.split(';')[0]! } });
    expect(await page.text()).toContain(name);
    const out = await request('/sign-out', { method: 'POST', headers: { cookie: cookie.split(';')[0]! } });
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await request('/', { headers: { cookie: cookie.split(';')[0]! } })).status).toBe(303);
  });

  test('answers a wrong name and a wrong password alike', async () => {
    const { name } = await addOperator('viewer');
    const [wrong, unknown] = [await signIn(name, 'wrong'), await signIn('nobody', 'wrong')];
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect((await wrong.text()).replace(name, 'nobody')).toBe(await unknown.text());
  });

  test('refuses the right password after five wrong ones', async () => {
    const { name, password } = await addOperator('viewer');
    let wrong = 0;
    // A busy machine may answer 503: too many sign-ins at once.
    while (wrong < 5) if ((await signIn(name, 'wrong')).status === 401) wrong += 1;
    expect((await signIn(name, password)).status).toBe(401);
  });

  test.for([
    '//evil.example',
    '/.//evil.example',
    '/\t/evil.example',
    '/\\evil.example',
    'https://evil.example',
  ])('leads nowhere else after a form: %j', async (back) => {
    const { cookie } = await addOperator('owner');
    const body = new URLSearchParams({ name: randomUUID(), back });
    const answer = await request('/do/partnerCreate', { method: 'POST', body, headers: { cookie } });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/?done=partnerCreate']);
    const form = await request(`/do/eventCreate?${new URLSearchParams({ back }).toString()}`, {
      headers: { cookie },
    });
    expect(await form.text()).not.toContain('evil.example');
  });

  test('refuses forms of other sites', async () => {
    const { name, password, cookie } = await addOperator('owner');
    const site = { 'sec-fetch-site': 'cross-site' };
    expect((await signIn(name, password, site)).status).toBe(403);
    const form = { method: 'POST', body: new URLSearchParams({ name: 'Gala' }) };
    const create = await request('/do/eventCreate', { ...form, headers: { cookie, ...site } });
    expect(create.status).toBe(403);
    const noBrowser = { cookie, 'sec-fetch-site': '', origin: 'https://elsewhere.example' };
    expect((await request('/do/eventCreate', { ...form, headers: noBrowser })).status).toBe(403);
  });
});
