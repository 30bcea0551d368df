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
import { consoleTest } from '../harness/console-test.ts';
import { commitBatch } from '../harness/committed-batch.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';

const { test, given } = consoleTest();

/** The operations of the document, each as "GET /events" with its id. */
async function operations(): Promise<{ route: string; id: string }[]> {
  const response = await given.request('/operator/v1/openapi.json');
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
      'GET /consumers/failing',
      'GET /events',
      'GET /events/{eventId}',
      'GET /events/{eventId}/call-off',
      'GET /events/{eventId}/devices',
      'GET /events/{eventId}/door-counts',
      'GET /events/{eventId}/door-report',
      'GET /events/{eventId}/gates',
      'GET /events/{eventId}/mail',
      'GET /events/{eventId}/mail/failures',
      'GET /events/{eventId}/mail/preview',
      'GET /events/{eventId}/mail/summary',
      'GET /events/{eventId}/notify-holders',
      'GET /events/{eventId}/operators',
      'GET /events/{eventId}/partners',
      'GET /events/{eventId}/passes/event',
      'GET /events/{eventId}/passes/revoked',
      'GET /events/{eventId}/registrations',
      'GET /events/{eventId}/reports/admissions',
      'GET /events/{eventId}/reports/attendance',
      'GET /events/{eventId}/reports/cancellations',
      'GET /events/{eventId}/reports/figures',
      'GET /events/{eventId}/reports/recent-sales',
      'GET /events/{eventId}/reports/sales',
      'GET /events/{eventId}/reports/settlement',
      'GET /events/{eventId}/tickets',
      'GET /events/{eventId}/webhooks',
      'GET /jobs',
      'GET /jobs/{jobId}',
      'GET /jobs/{jobId}/failures',
      'GET /keys',
      'GET /mail',
      'GET /mail/backlog',
      'GET /mail/suppressions',
      'GET /operators',
      'GET /operators/{name}',
      'GET /partners',
      'GET /partners/refusals',
      'GET /partners/{partnerId}/events',
      'GET /passes/keys',
      'GET /processes',
      'GET /reconcile',
      'GET /registrations/{passReference}',
      'GET /registrations/{passReference}/door',
      'GET /registrations/{passReference}/mails',
      'GET /registrations/{passReference}/story',
      'GET /shards',
      'GET /tickets/{ticketId}',
      'GET /tickets/{ticketId}/allocations',
      'GET /tickets/{ticketId}/prices',
      'GET /tickets/{ticketId}/waiting-list',
      'GET /webhooks',
      'GET /webhooks/{webhookId}',
      'GET /webhooks/{webhookId}/attempts',
      'POST /account/password',
      'POST /jobs/cancel/preview',
      'POST /jobs/resend/preview',
      'POST /passes/verify',
      'POST /registrations/count',
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
      'POST /events/{eventId}/call-off',
      'POST /events/{eventId}/devices',
      'POST /events/{eventId}/devices/{deviceId}/code',
      'POST /events/{eventId}/devices/{deviceId}/revoke',
      'POST /events/{eventId}/gates',
      'POST /events/{eventId}/guests',
      'POST /events/{eventId}/guests/import',
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
      'POST /jobs/cancel',
      'POST /jobs/resend',
      'POST /jobs/{jobId}/abort',
      'POST /jobs/{jobId}/pause',
      'POST /jobs/{jobId}/resume',
      'POST /keys/{keyId}/rotate',
      'POST /mail/suppressions/remove',
      'POST /mail/test',
      'POST /partners',
      'POST /partners/{partnerId}/keys',
      'POST /passes/keys',
      'POST /registrations/export',
      'POST /registrations/search',
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
      'DELETE /events/{eventId}/operators/{name}',
      'PATCH /operators/{name}',
      'POST /operators',
      'POST /operators/{name}/reset-password',
      'POST /operators/{name}/sign-out',
      'POST /tokens',
      'PUT /events/{eventId}/operators/{name}',
    ],
  };

  test('each operation is open to the roles of the table, and to nobody without a sign-in', async () => {
    const roles = {
      nobody: '',
      viewer: (await given.addOperator('viewer')).session,
      operator: (await given.addOperator('operator')).session,
      owner: (await given.addOperator('owner')).session,
    };
    const found: Record<string, string[]> = {};
    for (const { route } of await operations()) {
      // No such thing has this id or name, so an allowed request changes nothing.
      const asked = route.replaceAll(/\{\w+\}/g, '999999');
      const statuses: string[] = [];
      for (const [role, session] of Object.entries(roles)) {
        const { status } = await given.call(session, asked, asked.startsWith('GET') ? undefined : {});
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
    const token = await given.addToken('events:read');
    expect((await given.call(token, 'GET /events')).status).toBe(200);
    const refused = await given.call(token, 'POST /events', {
      name: 'Gala',
      passPrefix: 'GALA',
      duplicatePolicy: 'allow',
    });
    expect(refused).toMatchObject({ status: 403, body: { detail: 'It requires events:write.' } });
    const owner = await given.addOperator('owner');
    const { status } = await given.call(owner.session, `DELETE /access/${token.slice(4, 20)}`);
    expect(status).toBe(200);
    expect((await given.call(token, 'GET /events')).status).toBe(401);
  });

  test('a session ends with its operator', async () => {
    const viewer = await given.addOperator('viewer');
    const owner = await given.addOperator('owner');
    const path = `/operators/${encodeURIComponent(viewer.name)}`;
    expect((await given.call(viewer.session, 'GET /events')).status).toBe(200);
    expect((await given.call(owner.session, `PATCH ${path}`, { disabled: true })).status).toBe(200);
    expect((await given.call(viewer.session, 'GET /events')).status).toBe(401);
    // A session does not come back with its operator.
    await given.call(owner.session, `PATCH ${path}`, { disabled: false });
    expect((await given.call(viewer.session, 'GET /events')).status).toBe(401);
  });

  test('another role applies to open sessions at once', async () => {
    const [viewer, owner] = [await given.addOperator('viewer'), await given.addOperator('owner')];
    const event = { name: 'Gala', passPrefix: 'GALA', duplicatePolicy: 'allow' };
    expect((await given.call(viewer.session, 'POST /events', event)).status).toBe(403);
    await given.call(owner.session, `PATCH /operators/${encodeURIComponent(viewer.name)}`, {
      role: 'operator',
    });
    expect((await given.call(viewer.session, 'POST /events', event)).status).toBe(200);
  });
});

test('only who may change webhooks sees more of a URL than its server', async () => {
  const [viewer, operator] = [await given.addOperator('viewer'), await given.addOperator('operator')];
  const { eventId, partnerId } = await createFixture(given.database.db);
  const url = 'https://hooks.example:8443/services/T0/secret?token=secret';
  const { body } = await given.call(operator.session, `POST /events/${eventId}/webhooks`, { partnerId, url });
  const { id } = body as { id: string };
  const list = `GET /events/${eventId}/webhooks`;
  for (const { session, cookie } of [viewer, operator]) {
    const pages = await Promise.all(
      [`/webhooks/${id}`, `/events/${eventId}`, '/audit'].map(async (path) =>
        (await given.request(path, { headers: { cookie } })).text(),
      ),
    );
    const answers = [await given.call(session, list), await given.call(session, `GET /webhooks/${id}`)];
    const shown = JSON.stringify([...answers, ...pages]);
    if (session === viewer.session) {
      expect(answers[1]!.body).toMatchObject({ url: 'https://hooks.example:8443/…' });
      expect(shown).not.toContain('/services/T0');
    } else expect(answers[1]!.body).toMatchObject({ url });
  }
});

test('the pages lead to the allocations of a ticket, and to another attendee of a registration', async () => {
  const [fixture, { cookie }] = [await createFixture(given.database.db), await given.addOperator('owner')];
  const { serial } = await commitBatch(given.database.db, fixture);
  const show = async (path: string) => (await given.request(path, { headers: { cookie } })).text();
  const [row] = await findRegistrations(given.database.db, [{ ...fixture, serial }]);
  expect(await show(`/people/${passReferenceOf(row!)}`)).toContain('/do/registrationReplace?');
  const path = `/events/${fixture.eventId}/tickets/${row!.ticketId}`;
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
    'registration find': 'attendeeFind',
    'event of-partner': 'partnerEvents',
    'report story': 'registrationStory',
    'partner enable': 'partnerDisable',
    'mail retry-all': 'jobResend',
    'registration cancel-all': 'jobCancel',
    'registration resend-all': 'jobResend',
    'mail suppressions list': 'suppressionList',
    'mail suppressions remove': 'mailUnsuppress',
    'waiting-list list': 'waitingList',
    'shard move': 'eventMove',
    'registration export': 'attendeeExport',
    'pass keys': 'passKeyList',
    'queue failed': 'batchFailed',
    'queue failing': 'consumerFailing',
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
    const fixture = await createFixture(given.database.db);
    const { serial } = await commitBatch(given.database.db, fixture);
    await finalizePending(given.database.db, fixture.shardId);
    const [row] = await findRegistrations(given.database.db, [{ ...fixture, serial }]);
    return { ...fixture, row: row! };
  }

  test('a pass is checked, by a viewer too, with the public key alone', async () => {
    const [{ row }, viewer] = [await registered(), await given.addOperator('viewer')];
    const { serial, eventId, ticketId } = row;
    const token = await createPassSigner(given.database).tokenFor(row);
    const verify = async (text: string) => given.call(viewer.session, 'POST /passes/verify', { token: text });
    const pass = { serial, eventId, ticketId };
    expect(await verify(token)).toMatchObject({ status: 200, body: { valid: true, mode: 'live', pass } });
    const forged = token.slice(0, -2) + (token.at(-2) === '0' ? '1' : '0') + token.at(-1)!;
    expect((await verify(forged)).body).toMatchObject({ valid: false, pass, problem: 'forged' });
    expect((await verify('FG2.ABC')).body).toMatchObject({ valid: false, problem: 'malformed' });
    const form = { method: 'POST', body: new URLSearchParams({ token }), headers: { cookie: viewer.cookie } };
    const shown = await (await given.request('/do/passVerify', form)).text();
    expect(shown).toContain('This pass is valid');
  });

  test('a pass from before public keys were stored is not called invalid', async () => {
    const [{ row }, { session }] = [await registered(), await given.addOperator('viewer')];
    const token = await createPassSigner(given.database).tokenFor(row);
    await given.database.db.updateTable('pass_keys').set({ public_key: null }).execute();
    const detail = expect.stringContaining('try again then') as string;
    const early = await given.call(session, 'POST /passes/verify', { token });
    expect(early).toMatchObject({ status: 409, body: { detail } });
    await createPassSigner(given.database).keys();
    const later = await given.call(session, 'POST /passes/verify', { token });
    expect(later.body).toMatchObject({ valid: true });
  });

  test('the event and the revoked passes of doors are shown without a signature', async () => {
    const [{ row, eventId, shardId }, { session }] = [await registered(), await given.addOperator('viewer')];
    const event = await given.call(session, `GET /events/${eventId}/passes/event`);
    expect(event).toMatchObject({ status: 200, body: { event: eventId, revision: 1, venue: null } });
    await perform(
      given.database.db,
      cancelRegistrationAction,
      { passReference: passReferenceOf(row) },
      'jane',
    );
    await finalizePending(given.database.db, shardId);
    const list = `GET /events/${eventId}/passes/revoked`;
    const { cursor, ...revoked } = (await given.call(session, list)).body as Revocations;
    expect(revoked).toMatchObject({ partner: null, more: false, serials: [row.serial] });
    expect((await given.call(session, `${list}?after=${cursor}`)).body).toMatchObject({
      after: cursor,
      serials: [],
    });
    const after = expect.stringContaining('does not reach this cursor') as string;
    const ahead = await given.call(session, `${list}?after=999999`);
    expect(ahead).toMatchObject({ status: 422, body: { invalid: { after } } });
  });

  test('an e-mail is composed with made-up data', async () => {
    const [{ eventId }, { session }] = [
      await createFixture(given.database.db),
      await given.addOperator('viewer'),
    ];
    const route = `GET /events/${eventId}/mail/preview`;
    const from = encodeURIComponent('Gala <gala@events.example>');
    const { html, text, eml } = (await given.call(session, `${route}?language=de&from=${from}`))
      .body as Preview;
    expect(text).toContain('Guten Tag Ada Lovelace');
    expect(html).toContain('src="data:image/png;base64,');
    expect(eml).toMatch(/^From: Gala <gala@events\.example>\r$/m);
    expect((await given.call(session, `${route}?notice=true`)).body).toMatchObject({
      text: expect.stringContaining('webhook') as string,
    });
    expect(await given.call(session, `${route}?from=nobody`)).toMatchObject({
      status: 422,
      body: { invalid: { from: 'an address or Name <address>' } },
    });
  });
});

describe('input', () => {
  test('is checked by the rules of the command line, each named', async () => {
    const token = await given.addToken('tickets:write');
    const { eventId } = await createFixture(given.database.db);
    const body = { title: '', capacity: '5', saleStartsAt: '2026-11-21' };
    expect(await given.call(token, `POST /events/${eventId}/tickets`, body)).toEqual({
      status: 422,
      body: {
        status: 422,
        title: 'Invalid input',
        invalid: {
          title: '1 to 255 characters, no control characters, no space around them',
          capacity: 'a whole number from 0 to 2147483647, such as 5000',
          saleStartsAt: 'a time, or none',
        },
      },
    });
  });

  test('only fields of an operation are its input, whatever an object has', async () => {
    const { session, cookie } = await given.addOperator('owner');
    const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'];
    const query = names.map((name) => `${name}=1`).join('&');
    // JSON.parse makes own properties, and __proto__ is refused as malformed.
    const body = Object.fromEntries(names.filter((name) => name !== '__proto__').map((name) => [name, 'x']));
    for (const { route, id } of await operations()) {
      const asked = route.replaceAll(/\{\w+\}/g, '999999');
      const isRead = asked.startsWith('GET');
      const plain = await given.call(session, asked, isRead ? undefined : {});
      const others = await given.call(session, `${asked}?${query}`, isRead ? undefined : body);
      const [was, is] = [plain, others].map((answer) => [answer.status, Object.keys(Object(answer.body))]);
      expect([route, is]).toEqual([route, was]);
      if (isRead) continue;
      const form = new URLSearchParams(Object.fromEntries(names.map((name) => [name, 'x'])));
      const sent = await given.request(`/do/${id}`, { method: 'POST', body: form, headers: { cookie } });
      expect([route, sent.status < 500]).toEqual([route, true]);
    }
    for (const name of names)
      for (const path of [`/do/${name}`, `/?done=${name}`, `/assets/${name}`, `/operator/v1/${name}`])
        expect((await given.request(path, { headers: { cookie } })).status, path).toBeLessThan(500);
  });

  test('a number with separators is refused with an example, and the saved values are shown', async () => {
    const { cookie } = await given.addOperator('owner');
    const ticketId = String(await (await createFixture(given.database.db)).addTicket());
    const save = (fields: Record<string, string>) =>
      given.request('/do/ticketUpdate', {
        method: 'POST',
        body: new URLSearchParams({ ticketId, back: '/audit', ...fields }),
        headers: { cookie },
      });
    const refused = await save({ capacity: '5.000', price: '1.000' });
    const text = await refused.text();
    expect(refused.status).toBe(422);
    expect(text).toContain('such as 5,000');
    expect(text).toContain('such as 12.50');
    // What was typed is kept.
    expect(text).toContain('value="5.000"');
    const saved = await save({ capacity: '5000', price: '12.50' });
    const page = await given.request(saved.headers.get('location')!, { headers: { cookie } });
    const shown = (await page.text()).replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' ');
    expect(shown).toContain('Done: Change a ticket');
    expect(shown).toContain('Capacity 1,000 5,000');
    expect(shown).toContain('Price 0.00 12.50');
  });

  test('times have an offset, null is none, and an absent field stays as it is', async () => {
    const token = await given.addToken('events:write');
    const { eventId } = await createFixture(given.database.db);
    const starts = '2027-01-31T20:00:00+01:00';
    await given.call(token, `PATCH /events/${eventId}`, { startsAt: starts, venue: 'Town Hall' });
    await given.call(token, `PATCH /events/${eventId}`, { venue: null });
    expect(await findEvent(given.database.db, eventId)).toMatchObject({
      startsAt: new Date(starts),
      venue: null,
    });
  });

  test('the document of the operator API is valid', async () => {
    const text = await (await given.request('/operator/v1/openapi.json')).text();
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
    const answer = await given.call(await given.addToken('events:read', 'events:write'), route);
    expect(answer).toMatchObject({ status, body: { status } });
  });

  test('a change is in the audit log with the name of the token or operator', async () => {
    const [token, operator] = [await given.addToken('events:write'), await given.addOperator('operator')];
    const { id } = await createEvent(given.database.db, {
      name: 'Gala',
      passPrefix: 'GALA',
      duplicatePolicy: 'allow',
    });
    await given.call(token, `PATCH /events/${id}`, { venue: 'Hall 1' });
    await given.call(operator.session, `PATCH /events/${id}`, { venue: 'Hall 2' });
    const entries = await readAuditLog(given.database.db, { subject: `event:${id}`, limit: 10 });
    expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
      [operator.name, 'event.update'],
      [expect.stringMatching(/^token:token \w+$/), 'event.update'],
    ]);
  });
});
