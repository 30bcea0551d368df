import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { createPassSigner } from '@floodgate/passes';
import { rotatePassKeyAction } from '@floodgate/passes/actions';
import { findRegistrations, passReferenceOf } from '@floodgate/registrations';
import { sql } from 'kysely';
import { expect, inject } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { roleOf } from '../harness/service-roles.ts';

const { test, given } = consoleTest();

/** Every operation with a body or a query, in an order in which each finds what it needs. Values in braces come from earlier answers. */
const CALLS: [route: string, given?: object][] = [
  ['GET /events'],
  ['POST /events', { name: 'Gala', passPrefix: 'GALA', duplicatePolicy: 'allow', currency: 'EUR' }],
  ['GET /events/{eventId}'],
  ['PATCH /events/{eventId}', { venue: 'Town Hall', currency: 'JPY' }],
  ['GET /shards'],
  ['POST /events/{eventId}/move', { shardId: '{shardId}' }],
  ['PUT /events/{eventId}/partners/{partnerId}'],
  ['GET /events/{eventId}/partners'],
  ['GET /partners/{partnerId}/events'],
  ['GET /events/{eventId}/tickets'],
  ['POST /events/{eventId}/tickets', { title: 'Standing', capacity: 5 }],
  ['GET /tickets/{ticketId}'],
  ['PATCH /tickets/{ticketId}', { capacity: 10, price: 12 }],
  ['POST /events/{eventId}/tickets/stop-all'],
  ['POST /events/{eventId}/tickets/resume-all'],
  ['GET /tickets/{ticketId}/allocations'],
  ['GET /tickets/{ticketId}/prices'],
  ['PUT /tickets/{ticketId}/allocations/{partnerId}', { reserved: 1 }],
  ['GET /tickets/{ticketId}/waiting-list'],
  ['GET /events/{eventId}/registrations?partnerId={partnerId}'],
  ['GET /events/{eventId}/reports/settlement'],
  ['GET /events/{eventId}/reports/figures'],
  ['GET /events/{eventId}/reports/recent-sales'],
  ['GET /events/{eventId}/reports/sales'],
  ['GET /events/{eventId}/reports/attendance'],
  ['GET /events/{eventId}/reports/admissions'],
  ['GET /events/{eventId}/reports/cancellations'],
  ['GET /events/{eventId}/attendees?format=ndjson&mail=none&admitted=false'],
  ['POST /registrations/search', { eventId: '{eventId}', name: 'jane', mail: 'none' }],
  ['POST /registrations/count', { eventId: '{eventId}', admitted: false }],
  ['POST /registrations/export', { eventId: '{eventId}', phone: '110', format: 'csv' }],
  ['GET /registrations/{passReference}'],
  ['GET /registrations/{passReference}/attendee'],
  ['GET /registrations/{passReference}/story'],
  ['GET /registrations/{passReference}/door'],
  ['POST /attendees/find', { text: 'Jane' }],
  ['PATCH /registrations/{passReference}/attendee', { fullName: 'Jane Roe' }],
  ['POST /events/{eventId}/mail/enable'],
  ['GET /mail'],
  ['GET /mail/backlog'],
  ['GET /events/{eventId}/mail/summary'],
  ['POST /registrations/{passReference}/resend'],
  ['POST /events/{eventId}/mail/resend'],
  ['POST /events/{eventId}/notify-holders'],
  ['GET /events/{eventId}/notify-holders'],
  ['GET /events/{eventId}/mail'],
  ['GET /events/{eventId}/mail/preview'],
  ['GET /events/{eventId}/mail/failures'],
  ['GET /registrations/{passReference}/mails'],
  ['POST /events/{eventId}/mail/pause'],
  ['POST /events/{eventId}/mail/resume'],
  ['POST /events/{eventId}/mail/disable'],
  ['GET /mail/suppressions'],
  ['POST /mail/suppressions/remove', { address: '{digest}' }],
  ['POST /mail/test', { to: 'ann@example.com' }],
  ['GET /passes/keys'],
  ['POST /passes/verify', { token: '{token}' }],
  ['POST /passes/keys'],
  ['DELETE /passes/keys/{passKeyId}'],
  ['GET /events/{eventId}/passes/event'],
  ['GET /events/{eventId}/passes/revoked'],
  [
    'POST /registrations/{passReference}/attendee',
    { fullName: 'Ann Other', emailAddress: 'ann@example.com' },
  ],
  ['POST /registrations/{otherPassReference}/cancel'],
  ['GET /partners'],
  ['GET /partners/refusals'],
  ['POST /partners', { name: `partner ${randomUUID()}` }],
  ['PUT /partners/{partnerId}/contact', { contactEmail: 'ann@example.com' }],
  ['PUT /partners/{partnerId}/limit', { requestsPerSecond: 10 }],
  ['PUT /partners/{partnerId}/weight', { weight: 2 }],
  ['GET /keys?partnerId={partnerId}'],
  ['POST /partners/{partnerId}/keys'],
  ['POST /keys/{keyId}/rotate', { overlapMs: 60_000 }],
  ['DELETE /keys/{keyId}'],
  ['PUT /partners/{partnerId}/disabled', { disabled: false }],
  ['GET /events/{eventId}/webhooks'],
  ['POST /events/{eventId}/webhooks', { partnerId: '{partnerId}', url: 'https://partner.example/hook' }],
  ['GET /webhooks?partnerId={partnerId}&failing=true'],
  ['GET /webhooks/{webhookId}'],
  ['GET /webhooks/{webhookId}/attempts'],
  ['PATCH /webhooks/{webhookId}', { description: 'other' }],
  ['POST /webhooks/{webhookId}/test'],
  ['POST /webhooks/{webhookId}/replay', { since: '2026-11-21T09:00:00Z' }],
  ['POST /webhooks/{webhookId}/rotate'],
  ['POST /webhooks/{webhookId}/pause'],
  ['POST /webhooks/{webhookId}/resume'],
  ['DELETE /webhooks/{webhookId}'],
  ['GET /events/{eventId}/gates'],
  ['POST /events/{eventId}/gates', { name: 'Main' }],
  ['PATCH /events/{eventId}/gates/{gateId}', { name: 'Side' }],
  ['GET /events/{eventId}/devices'],
  ['POST /events/{eventId}/devices', { name: 'Scanner', gates: ['{gateId}'] }],
  ['POST /events/{eventId}/devices/{deviceId}/code'],
  ['POST /events/{eventId}/devices/{deviceId}/revoke'],
  ['GET /events/{eventId}/door-report'],
  ['GET /events/{eventId}/door-counts'],
  ['POST /jobs/cancel/preview', { eventId: '{eventId}', name: 'jane' }],
  ['POST /jobs/cancel', { eventId: '{eventId}', expect: 1, jobId: '{jobId}' }],
  ['GET /jobs?eventId={eventId}'],
  ['GET /jobs/{jobId}'],
  ['GET /jobs/{jobId}/failures'],
  ['POST /jobs/{jobId}/pause'],
  ['POST /jobs/{jobId}/resume'],
  ['POST /jobs/{jobId}/abort'],
  ['POST /jobs/resend/preview', { eventId: '{eventId}' }],
  // E-mails of the event are disabled.
  ['POST /jobs/resend', { eventId: '{eventId}', expect: 1 }],
  [
    'POST /events/{eventId}/guests',
    { ticketId: '{ticketId}', fullName: 'Ann Guest', emailAddress: 'guest@example.com' },
  ],
  [
    'POST /events/{eventId}/guests/import',
    { ticketId: '{ticketId}', csv: 'name,email\nAnn Guest,guest@example.com\nBo Guest,bo@example.com' },
  ],
  ['GET /backlog'],
  ['GET /batches/failed'],
  ['GET /consumers/failing'],
  ['POST /batches/redrive'],
  ['GET /reconcile'],
  ['GET /processes'],
  ['GET /audit'],
  ['GET /operators'],
  ['POST /operators', { name: '{operator}', role: 'viewer' }],
  ['GET /operators/{operator}'],
  ['PATCH /operators/{operator}', { role: 'operator' }],
  ['PUT /events/{eventId}/operators/{operator}', { role: 'door-manager' }],
  ['GET /events/{eventId}/operators'],
  ['DELETE /events/{eventId}/operators/{operator}'],
  ['POST /account/password', { oldPassword: '{password}', newPassword: '{operator}' }],
  ['POST /operators/{operator}/reset-password'],
  ['POST /operators/{operator}/sign-out'],
  ['GET /access'],
  ['POST /tokens', { name: 'deploys', scopes: ['events:read'], expiresAt: '{soon}' }],
  ['DELETE /access/{accessId}'],
  ['DELETE /events/{eventId}/partners/{partnerId}'],
  ['POST /events/{eventId}/tickets/stop-all'],
  ['GET /events/{eventId}/call-off'],
  ['POST /events/{eventId}/call-off', { expect: 3 }],
  ['POST /events/{eventId}/archive'],
  ['POST /events/{eventId}/restore'],
];

/** What an answer gives to later calls. */
const KEPT: Record<string, [name: string, field: string]> = {
  'POST /events/{eventId}/tickets': ['ticketId', 'id'],
  'POST /partners/{partnerId}/keys': ['keyId', 'keyId'],
  'POST /events/{eventId}/webhooks': ['webhookId', 'id'],
  'POST /events/{eventId}/gates': ['gateId', 'id'],
  'POST /events/{eventId}/devices': ['deviceId', 'id'],
  'POST /tokens': ['accessId', 'id'],
};

/** Those that are refused here, after their statements. */
const REFUSED: Record<string, number> = {
  'POST /mail/test': 409,
  'POST /jobs/resend': 409,
  ...(inject('engine') === 'citus' && { 'POST /passes/keys': 409 }),
};

/** The words next to a secret, and next to the code of a scanner. */
const SHOWN_ONCE = /it will not be shown again|works once, for 10 minutes/;

/** Returns a route without the names of the fields in its path. */
const shape = (route: string) => route.replace(/\?.*/, '').replaceAll(/\{\w+\}/g, '{}');

/** Returns the documented operations by the shape of their route. */
async function readOperations() {
  const { paths } = (await (await given.request('/operator/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([prefixed, methods]) => {
      const path = prefixed.replace('/operator/v1', '');
      return Object.entries(methods).map(
        ([method, { operationId: id }]) => [shape(`${method.toUpperCase()} ${path}`), { id, path }] as const,
      );
    }),
  );
}

/** Not every answer is one JSON document. */
async function call(token: string, route: string, body?: string) {
  const [method, path] = route.split(' ') as [string, string];
  const answer = await given.request(`/operator/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body }),
  });
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  const isProblem = answer.headers.get('content-type')?.startsWith('application/problem+json');
  return { status: answer.status, body: isJson || isProblem ? await answer.json() : await answer.text() };
}

/** Fields and texts of secrets: keys of partners, tokens of operators, secrets of webhooks, passwords and codes. */
const SECRET_FIELD = /secret|password|token|privateKey|^code$/i;
const SECRET_TEXT = /^(fgo?_|whsec_)/;

/** Returns whether a text in an answer is a secret. */
function hasSecret(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  return Object.entries(answer).some(([field, value]: [string, unknown]) =>
    typeof value === 'string' ? SECRET_FIELD.test(field) || SECRET_TEXT.test(value) : hasSecret(value),
  );
}

/** Sends the form of an operation. `path` is that of the document, `sentTo` that of a call with the same fields. */
async function sendForm(cookie: string, id: string, [path, sentTo]: [string, string], body: object = {}) {
  const segments = sentTo.split('/');
  const inPath = path.split('/').flatMap((part, place) => {
    const [, field] = /^\{(\w+)\}$/.exec(part) ?? [];
    return field ? [[field, decodeURIComponent(segments[place]!)]] : [];
  });
  // Names are unique, and the call has taken that of the body.
  const inBody = Object.entries<unknown>({
    ...body,
    ...('name' in body && { name: `form ${randomUUID()}` }),
  });
  const form = new URLSearchParams([...inBody.map(([field, value]) => [field, String(value)]), ...inPath]);
  return given.request(`/do/${id}`, { method: 'POST', body: form, headers: { cookie } });
}

async function passReferenceIn(db: Database, fixture: Fixture) {
  const { serial } = await commitBatch(db, fixture);
  await finalizePending(db, fixture.shardId);
  const [row] = await findRegistrations(db, [{ ...fixture, serial }]);
  return { row: row!, passReference: passReferenceOf(row!) };
}

test('every operation works with the privileges of the console, and each form shows its secret', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const [first, other] = [await passReferenceIn(db, fixture), await passReferenceIn(db, fixture)];
  const digest = 'ab'.repeat(32);
  await sql`
    insert into mail_suppressions (digest, reason, event_id)
    values (${digest}, 'test', ${fixture.eventId})`.execute(db);
  const values: Record<string, unknown> = {
    eventId: fixture.eventId,
    partnerId: fixture.partnerId,
    passReference: first.passReference,
    otherPassReference: other.passReference,
    shardId: fixture.shardId,
    token: await createPassSigner(given.database).tokenFor(first.row),
    passKeyId: 1,
    jobId: randomUUID(),
    digest,
    operator: `operator ${randomUUID()}`,
    soon: new Date(Date.now() + 60_000).toISOString(),
  };
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const filled = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(filled)
      : typeof value === 'string' && value.startsWith('{')
        ? values[value.slice(1, -1)]
        : value;
  const { session, cookie, password } = await given.addOperator('owner');
  values['password'] = password;
  const documented = await readOperations();
  const shownOnce: string[] = [];
  // The console cannot there, and the first key can be withdrawn once there is a second one.
  if (inject('engine') === 'citus') await perform(db, rotatePassKeyAction, {}, 'test');
  for (const [route, body] of CALLS) {
    const sent = body && Object.fromEntries(Object.entries(body).map(([name, one]) => [name, filled(one)]));
    const isRead = route.startsWith('GET');
    const answer = await call(session, fill(route), isRead ? undefined : JSON.stringify(sent ?? {}));
    expect([route, answer]).toEqual([
      route,
      { status: REFUSED[route] ?? 200, body: expect.anything() as unknown },
    ]);
    const [name, field] = KEPT[route] ?? [];
    if (name) values[name] = (answer.body as Record<string, unknown>)[field!];
    if (!hasSecret(answer.body)) continue;
    const { id, path } = documented.get(shape(route))!;
    shownOnce.push(id);
    const page = await sendForm(cookie, id, [path, fill(route).split(' ')[1]!], sent);
    expect([id, page.status, await page.text()]).toEqual([id, 200, expect.stringMatching(SHOWN_ONCE)]);
  }
  expect([...new Set(CALLS.map(([route]) => shape(route)))].toSorted()).toEqual(
    [...documented.keys()].toSorted(),
  );
  const ofEachKind = ['keyIssue', 'webhookCreate', 'deviceCreate', 'operatorCreate', 'tokenCreate'];
  expect(shownOnce).toEqual(expect.arrayContaining(ofEachKind));
});

test('a missing privilege is named, and is not a Postgres that does not answer', async () => {
  const { session, cookie } = await given.addOperator('viewer');
  const role = sql.id(roleOf('console'));
  await sql`revoke select on held_seats from ${role}`.execute(given.database.db);
  try {
    const answer = await given.call(session, 'GET /reconcile');
    expect(answer).toMatchObject({ status: 500, body: { title: 'The console lacks a privilege' } });
    expect(answer.body).toMatchObject({
      detail: expect.stringMatching(/permission denied for (table|relation) held_seats.*migrate/) as string,
    });
    await sql`revoke select on audit_log from ${role}`.execute(given.database.db);
    const page = await given.request('/audit', { headers: { cookie } });
    expect(await page.text()).toContain('permission denied for table audit_log');
  } finally {
    await sql`grant select on held_seats, audit_log to ${role}`.execute(given.database.db);
  }
});
