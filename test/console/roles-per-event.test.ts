import type { Role, Scope } from '@floodgate/operators';
import { describe, expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createThings, missingThings, type ThingsOfEvent } from '../harness/things-of-event.ts';

const { test, given } = consoleTest();

/** What every operation belongs to. A new operation fails the test until it is here. */
const BELONGS = {
  eventId: [
    'attendeeExport',
    'attendeeExportBy',
    'deviceCode',
    'deviceCreate',
    'deviceList',
    'deviceRevoke',
    'doorCounts',
    'doorReport',
    'eventArchive',
    'eventCallOff',
    'eventCallOffPreview',
    'eventGrant',
    'eventMove',
    'eventNotifyHolders',
    'eventOperators',
    'eventOutdated',
    'eventPartners',
    'eventRestore',
    'eventRevoke',
    'eventShow',
    'eventUpdate',
    'gateCreate',
    'gateList',
    'gateUpdate',
    'guestAdd',
    'guestImport',
    'jobCancel',
    'jobCancelPreview',
    'jobResend',
    'jobResendPreview',
    'mailCounts',
    'mailDisable',
    'mailEnable',
    'mailFailures',
    'mailPause',
    'mailPreview',
    'mailResendAll',
    'mailResume',
    'mailSummary',
    'operatorGrant',
    'operatorRevoke',
    'passEvent',
    'passRevoked',
    'registrationCount',
    'registrationList',
    'registrationSearch',
    'reportAdmissions',
    'reportAttendance',
    'reportCancellations',
    'reportFigures',
    'reportRecentSales',
    'reportSales',
    'reportSettlement',
    'ticketCreate',
    'ticketList',
    'ticketResumeAll',
    'ticketStopAll',
    'webhookCreate',
    'webhookList',
  ],
  ticketId: [
    'ticketAllocate',
    'ticketAllocations',
    'ticketPrices',
    'ticketShow',
    'ticketUpdate',
    'waitingList',
  ],
  passReference: [
    'attendeeShow',
    'doorStory',
    'mailResend',
    'mailShow',
    'registrationCancel',
    'registrationCorrect',
    'registrationReplace',
    'registrationShow',
    'registrationStory',
  ],
  webhookId: [
    'webhookAttempts',
    'webhookDelete',
    'webhookPause',
    'webhookReplay',
    'webhookResume',
    'webhookRotate',
    'webhookShow',
    'webhookTest',
    'webhookUpdate',
  ],
  jobId: ['jobAbort', 'jobFailures', 'jobPause', 'jobResume', 'jobShow'],
  token: ['passVerify'],
  // With the ids of batches. Without them, it is for all events.
  batchIds: ['batchRedrive'],
  // They show what belongs to the events of the caller.
  list: [
    'attendeeFind',
    'auditList',
    'batchFailed',
    'consumerFailing',
    'eventList',
    'jobList',
    'mailBacklog',
    'mailStatus',
    'webhookListAll',
  ],
  'no event': [
    'accessList',
    'accessRevoke',
    'backlogShow',
    'eventCreate',
    'keyIssue',
    'keyList',
    'keyRevoke',
    'keyRotate',
    'mailTest',
    'mailUnsuppress',
    'operatorCreate',
    'operatorList',
    'operatorResetPassword',
    'operatorShow',
    'operatorSignOut',
    'operatorUpdate',
    'partnerContact',
    'partnerCreate',
    'partnerDisable',
    'partnerEvents',
    'partnerLimit',
    'partnerList',
    'partnerRefusals',
    'partnerWeigh',
    'passKeyList',
    'passRotate',
    'passWithdraw',
    'processList',
    'reconcile',
    'shardList',
    'suppressionList',
    'tokenCreate',
  ],
  // It is no operation, and belongs to the session.
  session: ['accountPassword'],
};

type Belonging = keyof typeof BELONGS;

/** The scopes of each role, written a second time on purpose. */
const ROLES: Record<Role, (scope: string) => boolean> = {
  viewer: (scope) => scope.endsWith(':read') && scope !== 'attendees:read',
  'door-manager': (scope) => /^((events|tickets|registrations|attendees|door):read|door:write)$/.test(scope),
  operator: (scope) => scope !== 'access:write',
  owner: () => true,
};

interface DocumentedOperation {
  id: string;
  route: string;
  scope: string;
}

async function operations(): Promise<DocumentedOperation[]> {
  const response = await given.request('/operator/v1/openapi.json');
  const { paths } = (await response.json()) as {
    paths: Record<string, Record<string, { operationId: string; description: string }>>;
  };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id, description }]) => ({
      id,
      route: `${method.toUpperCase()} ${path.replace('/operator/v1', '')}`,
      scope: /`(\S+)`/.exec(description)?.[1] ?? '',
    })),
  );
  // What deletes a thing comes last, so the others find it.
  const isLast = ({ id }: DocumentedOperation) => Number(id === 'webhookDelete');
  return all.toSorted((one, other) => isLast(one) - isLast(other));
}

const belongingOf = (id: string) =>
  (Object.keys(BELONGS) as Belonging[]).find((name) => BELONGS[name].includes(id));

/** Calls an operation on one thing. Everything else that it needs is missing. */
function callOn({ route, id }: DocumentedOperation, things: ThingsOfEvent, session: string) {
  const ids: Record<string, string | number> = { ...things, name: 'nobody', accessId: '0'.repeat(16) };
  const asked = route.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(ids[name] ?? 999_999)),
  );
  const ofEvent = { eventId: things.eventId };
  const bodies: Record<string, object> = {
    guestAdd: { ticketId: things.ticketId },
    attendeeExportBy: { ...ofEvent, format: 'none' },
    jobCancel: ofEvent,
    jobCancelPreview: ofEvent,
    jobResend: ofEvent,
    jobResendPreview: ofEvent,
    registrationCount: ofEvent,
    registrationSearch: ofEvent,
    passVerify: { token: things.token },
    batchRedrive: { batchIds: [things.batchId] },
  };
  // The answer of an export is no JSON. An invalid field is refused after the caller is admitted.
  if (id === 'attendeeExport') return given.call(session, `${asked}?format=none`);
  return given.call(session, asked, route.startsWith('GET') ? undefined : (bodies[id] ?? {}));
}

const MISSING = [
  'no such event',
  'no such ticket',
  'no such registration',
  'no such webhook',
  'no such pass',
  'no such job',
  'no failed batch has this id',
];

type Verdict = 'admitted' | 'forbidden' | 'missing';

function verdictOf({ status, body }: { status: number; body: unknown }): Verdict {
  expect(status).toBeLessThan(500);
  expect(status).not.toBe(401);
  if (status === 403) return 'forbidden';
  const { detail } = body as { detail?: string };
  return status === 404 && MISSING.includes(detail ?? '') ? 'missing' : 'admitted';
}

/** The scopes of a caller: for all events, and in addition for its own. */
interface Rights {
  ofAll: (scope: string) => boolean;
  ofOwn: (scope: string) => boolean;
  hasNoneOfAll: boolean;
}

function expected({ id, scope }: DocumentedOperation, isOwn: boolean, rights: Rights): Verdict {
  const { ofAll, ofOwn, hasNoneOfAll } = rights;
  if (!ofAll(scope) && !ofOwn(scope)) return 'forbidden';
  const belonging = belongingOf(id);
  if (ofAll(scope) || belonging === 'list') return 'admitted';
  if (belonging === 'no event') return 'forbidden';
  if (isOwn) return 'admitted';
  return hasNoneOfAll ? 'missing' : 'forbidden';
}

const none = () => false;

/** Every kind of caller. */
const CALLERS: Record<string, { all: Role | null; own: Role | null } | { token: Scope[] }> = {
  ...Object.fromEntries(
    (Object.keys(ROLES) as Role[]).flatMap((role) => [
      [`${role} of all events`, { all: role, own: null }],
      [`${role} of one event`, { all: null, own: role }],
    ]),
  ),
  'viewer of all events, operator of one': { all: 'viewer', own: 'operator' },
  'token of one event': { token: ['events:read', 'tickets:write', 'webhooks:write', 'audit:read'] },
};

async function callerOf(
  of: (typeof CALLERS)[string],
  eventId: number,
): Promise<{ session: string; rights: Rights }> {
  if ('token' in of) {
    const ofOwn = (scope: string) => of.token.includes(scope as Scope);
    const session = await given.addLimitedToken([eventId], ...of.token);
    return { session, rights: { ofAll: none, ofOwn, hasNoneOfAll: true } };
  }
  const { session } = await given.addOperator(of.all, of.own ? { [eventId]: of.own } : {});
  const rights = {
    ofAll: of.all ? ROLES[of.all] : none,
    ofOwn: of.own ? ROLES[of.own] : none,
    hasNoneOfAll: of.all === null,
  };
  return { session, rights };
}

test('every operation says what it belongs to', async () => {
  const ids = (await operations()).map(({ id }) => id);
  expect(Object.values(BELONGS).flat().toSorted()).toEqual(ids.toSorted());
});

test.for(Object.keys(CALLERS))('%s: every operation on its own event and on another one', async (name) => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { session, rights } = await callerOf(CALLERS[name]!, own.eventId);
  const found: Record<string, Verdict> = {};
  const wanted: Record<string, Verdict> = {};
  for (const operation of await operations()) {
    if (belongingOf(operation.id) === 'session') continue;
    for (const [where, things] of Object.entries({ own, other })) {
      const at = `${operation.id} ${where}`;
      found[at] = verdictOf(await callOn(operation, things, session));
      wanted[at] = expected(operation, where === 'own', rights);
    }
  }
  expect(found).toEqual(wanted);
});

test('the answer for a foreign thing is that for one that does not exist', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const missing = missingThings(other);
  const { session } = await given.addOperator(null, { [own.eventId]: 'owner' });
  for (const operation of await operations()) {
    const belonging = belongingOf(operation.id);
    if (belonging === 'session' || belonging === 'list' || belonging === 'no event') continue;
    const [foreign, absent] = [
      await callOn(operation, other, session),
      await callOn(operation, missing, session),
    ];
    expect([operation.id, foreign]).toEqual([operation.id, absent]);
    expect(foreign.status).toBe(404);
  }
});

test('a gate or device of another event is not found in the own one', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { session } = await given.addOperator(null, { [own.eventId]: 'door-manager' });
  const call = (route: string, body: object = {}) =>
    given.call(session, route.replace(' ', ` /events/${own.eventId}/`), body);
  const found = [
    await call(`PATCH gates/${other.gateId}`, { name: 'Mine' }),
    await call(`POST devices/${other.deviceId}/code`),
    await call(`POST devices/${other.deviceId}/revoke`),
  ];
  expect(found.map(({ status }) => status)).toEqual([404, 404, 404]);
  const mixed = await call('POST devices', { name: 'Mine', gates: [own.gateId, other.gateId] });
  expect(mixed.status).toBeGreaterThanOrEqual(400);
});

describe('lists', () => {
  test('show what belongs to the events of the caller, and nothing else', async () => {
    const [own, other] = [await createThings(given.database), await createThings(given.database)];
    await given.addOperator(null, { [own.eventId]: 'viewer', [other.eventId]: 'viewer' });
    const owner = await given.addOperator('owner');
    for (const { eventId, ticketId, webhookId } of [own, other]) {
      await given.call(owner.session, `PATCH /tickets/${ticketId}`, { capacity: 500 });
      await given.call(owner.session, `POST /webhooks/${webhookId}/pause`, {});
      await given.call(owner.session, `POST /events/${eventId}/mail/enable`, {});
    }
    const { session } = await given.addOperator(null, { [own.eventId]: 'operator' });
    const events = (await given.call(session, 'GET /events')).body as { id: number }[];
    expect(events.map(({ id }) => id)).toEqual([own.eventId]);
    const mail = (await given.call(session, 'GET /mail')).body as { events: { eventId: number }[] };
    expect(mail.events.map(({ eventId }) => eventId)).toEqual([own.eventId]);
    const batches = (await given.call(session, 'GET /batches/failed')).body as {
      failed: { batchId: string }[];
    };
    expect(batches.failed.map(({ batchId }) => batchId)).toEqual([own.batchId]);
    const audit = (await given.call(session, 'GET /audit?limit=1000')).body as { subject: string }[];
    const subjects = new Set(audit.map(({ subject }) => subject));
    for (const [one, isSeen] of [
      [own, true],
      [other, false],
    ] as const) {
      const named = [
        `ticket:${one.ticketId}`,
        `webhook:${one.webhookId}`,
        `event:${one.eventId}`,
        `gate:${one.gateId}`,
      ];
      for (const subject of named) expect([subject, subjects.has(subject)]).toEqual([subject, isSeen]);
    }
    const of = `?subject=ticket:${other.ticketId}`;
    expect((await given.call(session, `GET /audit${of}`)).body).toEqual([]);
    expect((await given.call(owner.session, `GET /audit${of}`)).body).not.toEqual([]);
  });

  test('refuse another event that is named, as one that does not exist', async () => {
    const [own, other] = [await createThings(given.database), await createThings(given.database)];
    const { session } = await given.addOperator(null, { [own.eventId]: 'operator' });
    const calls = (eventId: number) =>
      Promise.all([
        given.call(session, `GET /mail?eventId=${eventId}`),
        given.call(session, `GET /batches/failed?eventId=${eventId}`),
        given.call(session, 'POST /attendees/find', { eventId, namePrefix: 'Jane' }),
        given.call(session, 'POST /batches/redrive', { eventId }),
      ]);
    const foreign = await calls(other.eventId);
    expect(foreign).toEqual(await calls(2_000_000_001));
    expect(foreign.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const mine = await calls(own.eventId);
    expect(mine.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    // A ticket of another event next to the own one.
    const mixed = { eventId: own.eventId, ticketId: other.ticketId };
    expect((await given.call(session, 'POST /attendees/find', mixed)).status).toBe(404);
    // Without an event, it would be for all.
    expect((await given.call(session, 'POST /batches/redrive', {})).status).toBe(403);
  });
});

test('a pass reference has its code for those only who may see the attendees of its event', async () => {
  const [own, other] = [await createThings(given.database), await createThings(given.database)];
  const { session } = await given.addOperator('viewer', { [own.eventId]: 'door-manager' });
  const show = async ({ passReference }: ThingsOfEvent) =>
    (await given.call(session, `GET /registrations/${encodeURIComponent(passReference)}`)).body as object;
  expect(await show(own)).toMatchObject({ passReference: own.passReference });
  expect(await show(other)).toMatchObject({ passReference: other.passReference.replace(/\d{10}$/, '…') });
});

test('another role for an event, and its end, apply to open sessions at once', async () => {
  const own = await createThings(given.database);
  const [owner, limited] = [
    await given.addOperator(null, { [own.eventId]: 'owner' }),
    await given.addOperator(null, { [own.eventId]: 'viewer' }),
  ];
  const change = () => given.call(limited.session, `PATCH /tickets/${own.ticketId}`, { capacity: 700 });
  const role = `/events/${own.eventId}/operators/${encodeURIComponent(limited.name)}`;
  expect((await change()).status).toBe(403);
  expect((await given.call(owner.session, `PUT ${role}`, { role: 'operator' })).status).toBe(200);
  expect((await change()).status).toBe(200);
  expect((await given.call(owner.session, `DELETE ${role}`)).status).toBe(200);
  expect(await change()).toMatchObject({ status: 403 });
  expect(await given.call(limited.session, `GET /events/${own.eventId}`)).toMatchObject({ status: 403 });
});
