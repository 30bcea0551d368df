import { createEvent, grantEvent } from '@floodgate/events';
import { accessControl, issueKey } from '@floodgate/partners';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, onTestFinished } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { PATIENT, startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { listingRoutes } from '../harness/listed-routes.ts';
import { recording } from '../harness/recorded-statements.ts';
import { addWebhook } from '../harness/webhooks.ts';

const { test, given } = eventTest({ sharesEvent: true, own: 'counts, empties or compares whole tables' });

// Two partners with an event each, and one event that both may use. Whatever the one asks for that is the
// other's is answered, to the last header, as if there were no such thing.

const REGISTER = 'POST /api/v1/events/register';
const BULK = 'POST /api/v1/events/register/bulk';
const TICKETS = 'GET /api/v1/events/tickets';
const LAUNCH = 'GET /api/v1/events/launch';
const LIST = 'GET /api/v1/events/registrations';
const STATUS = 'GET /api/v1/events/registrations/:passReference';
const PASS = `${STATUS}/pass`;
const ADMISSIONS = `${STATUS}/admissions`;
const REVOKED = 'GET /api/v1/events/passes/revoked';
const SIGNED_EVENT = 'GET /api/v1/events/passes/event';
const CANCEL = `${STATUS.replace('GET', 'POST')}/cancel`;
const CONFIRM = `${STATUS.replace('GET', 'POST')}/confirm`;
const CHANGE_ATTENDEE = `${STATUS.replace('GET', 'POST')}/attendee`;
const HOLDS = 'POST /api/v1/events/holds';
const HOLD = 'GET /api/v1/events/holds/:holdReference';
const HOLD_CHANGES = ['confirm', 'extend', 'release', 'seats'].map(
  (name) => `${HOLD.replace('GET', 'POST')}/${name}`,
);
const MORE_SEATS = HOLD_CHANGES.at(-1)!;
const FIND_HOLDS = HOLDS.replace('POST', 'GET');
const CONFIRM_HOLDS = `${HOLDS}/confirm`;
const CANCEL_ALL = `${LIST.replace('GET', 'POST')}/cancel`;
const JOIN = 'POST /api/v1/events/waiting-list';
const WAITING = 'GET /api/v1/events/waiting-list/:entry';
const LEAVE = `${WAITING.replace('GET', 'POST')}/leave`;
const RESET = 'POST /api/v1/events/reset';
const WEBHOOKS = 'GET /api/v1/webhooks';
const CREATE_WEBHOOK = 'POST /api/v1/webhooks';
const WEBHOOK = `${WEBHOOKS}/:webhookId`;
const ATTEMPTS = `${WEBHOOK}/attempts`;
const CHANGE_WEBHOOK = WEBHOOK.replace('GET', 'PATCH');
const WEBHOOK_CHANGES = [
  CHANGE_WEBHOOK,
  WEBHOOK.replace('GET', 'DELETE'),
  ...['pause', 'resume', 'test', 'replay', 'rotate'].map(
    (name) => `${WEBHOOK.replace('GET', 'POST')}/${name}`,
  ),
];
/** What is sent where it is no registration. */
const BODIES: Record<string, object> = {
  [HOLD_CHANGES[0]!]: { contact: { fullName: 'Jane Doe', emailAddress: 'jane@example.com' } },
  [CREATE_WEBHOOK]: { url: 'https://partner.example/hook' },
  [CHANGE_WEBHOOK]: { description: 'changed' },
  [`${WEBHOOK.replace('GET', 'POST')}/replay`]: { since: '2026-11-21T09:00:00Z' },
  [`${WEBHOOK.replace('GET', 'POST')}/rotate`]: {},
};
const NO_SUCH_TICKET = 2_147_483_647;
/** The entries of a partner may wait for as many seats as the ticket has. */
const LISTED_SEATS = 10;

const routes = new Set<string>();
let api: InProcessApi;
let mine: Fixture;
let theirs: Fixture;
let shared: Fixture;
/** The same event with the other partner's key. */
let theirShared: Fixture;
/** A test event of the other's. */
let theirTrial: Fixture;
let sharedTicket: number;
let theirTicket: number;
let sharedListed: number;
let theirListed: number;
let theirPass: string;
let theirSharedPass: string;
let theirHold: string;
let theirSharedHold: string;
let theirEntry: string;
let theirSharedEntry: string;
let theirWebhook: string;
let theirSharedWebhook: string;

test.beforeAll(async () => {
  const start = () => startInProcessApi({ DATABASE_URL: given.database.url, ...PATIENT });
  const started = await listingRoutes(start);
  api = started.result;
  for (const { method, url } of started.routes) routes.add(`${method} ${url}`);

  [mine, theirs] = [await createFixture(given.database.db), await createFixture(given.database.db)];
  theirTrial = await createFixture(given.database.db, 'allow', 'test');
  for (const { partnerId } of [mine, theirs])
    await grantEvent(given.database.db, partnerId, given.gala.eventId);
  shared = { ...given.gala, partnerId: mine.partnerId, secretKey: mine.secretKey };
  theirShared = { ...given.gala, partnerId: theirs.partnerId, secretKey: theirs.secretKey };
  [sharedTicket, theirTicket] = [await shared.addTicket(), await theirs.addTicket()];
  await mine.addTicket();
  // Sold out, with a waiting list.
  const listed = { capacity: LISTED_SEATS, offerHours: 24 };
  [sharedListed, theirListed] = [await shared.addTicket(listed), await theirs.addTicket(listed)];
  for (let seat = 0; seat < LISTED_SEATS; seat += 1) {
    await register(theirs, theirListed);
    await register(theirShared, sharedListed);
  }
});

afterAll(() => api.close());

/** How to make each thing of the other's, by the parameter of the path that names it. */
const MAKE = {
  async passReference() {
    theirPass = await register(theirs, theirTicket);
    theirSharedPass = await register(theirShared, sharedTicket);
    for (const { shardId } of [theirs, theirShared]) await finalizePending(given.database.db, shardId);
  },
  async holdReference() {
    theirHold = await hold(theirs, theirTicket);
    theirSharedHold = await hold(theirShared, sharedTicket);
  },
  async entry() {
    if (theirEntry) await leave(theirs, theirEntry);
    if (theirSharedEntry) await leave(theirShared, theirSharedEntry);
    theirEntry = await join(theirs, theirListed);
    theirSharedEntry = await join(theirShared, sharedListed);
  },
  async webhookId() {
    await sql`delete from webhook_endpoints`.execute(given.database.db);
    const url = 'https://partner.example/hook';
    theirWebhook = (await addWebhook(given.database.db, theirs, { url })).endpoint.id;
    theirSharedWebhook = (await addWebhook(given.database.db, theirShared, { url })).endpoint.id;
  },
};
type Parameter = keyof typeof MAKE;
const PARAMETERS = Object.keys(MAKE) as Parameter[];

/** The things that are not made yet, or that a test may have changed for good. */
const toBeMade = new Set<Parameter>(PARAMETERS);

beforeEach(async () => {
  for (const parameter of toBeMade) await MAKE[parameter]();
  toBeMade.clear();
});

/** Notes that a request to the route may change what it names, so that the next test gets another. */
function noteChange(route: string): void {
  if (/^(?:GET|HEAD) /.test(route)) return;
  if (route === CONFIRM_HOLDS) toBeMade.add('holdReference');
  if (route === CANCEL_ALL) toBeMade.add('passReference');
  for (const parameter of PARAMETERS) if (route.includes(`:${parameter}`)) toBeMade.add(parameter);
}

const clientOf = (caller: Pick<Fixture, 'secretKey' | 'eventRef'>) => new PartnerClient(api.baseUrl, caller);

async function register(caller: Fixture, ticketId: number, headers = {}): Promise<string> {
  const { body } = await clientOf(caller).register(attendee(ticketId), headers);
  expect(body.responseCode).toBe('00');
  return String(body.responseData);
}

async function hold(caller: Fixture, ticketId: number): Promise<string> {
  const { body } = await clientOf(caller).post('/holds', {
    ...basketOf(ticketId),
    partnerReference: 'theirs',
  });
  return (body.responseData as { holdReference: string }).holdReference;
}

async function join(caller: Fixture, ticketId: number): Promise<string> {
  const { body } = await clientOf(caller).post('/waiting-list', waitingOf(ticketId));
  return (body.responseData as { entry: string }).entry;
}

const leave = (caller: Fixture, entry: string) => clientOf(caller).post(`/waiting-list/${entry}/leave`, {});

const waitingOf = (ticketId: number) => ({
  organizedEventTicketID: ticketId,
  contact: { fullName: 'Jane Doe', emailAddress: 'jane@example.com' },
});

const basketOf = (ticketId: number) => ({ tickets: [{ organizedEventTicketID: ticketId, seats: 1 }] });

/** What a probe asks for: by which event reference, and which thing under it. */
interface Request {
  eventRef: string;
  ticketId?: number;
  passReference?: string;
  webhookId?: string;
  holdReference?: string;
  entry?: string;
  partnerReference?: string;
  body?: string;
}

/** Sends a request to a route and answers everything that comes back but what differs by nature. */
async function ask(route: string, secretKey: string | null, request: Request) {
  const [method, path] = route.split(' ') as [string, string];
  const registration = attendee(request.ticketId ?? sharedTicket);
  const bodies: Record<string, object> = {
    ...BODIES,
    [BULK]: { registrations: [registration] },
    [HOLDS]: basketOf(request.ticketId ?? sharedTicket),
    [MORE_SEATS]: basketOf(request.ticketId ?? sharedTicket),
    [CONFIRM_HOLDS]: {
      holds: [{ holdReference: request.holdReference ?? theirHold, ...BODIES[HOLD_CHANGES[0]!] }],
    },
    [CANCEL_ALL]: { passReferences: [request.passReference ?? theirPass] },
    [JOIN]: waitingOf(request.ticketId ?? sharedListed),
  };
  const asked = bodies[route] ?? registration;
  const body = request.body ?? JSON.stringify(asked);
  const hasBody = method === 'POST' || method === 'PATCH';
  const url = path
    .replace(':passReference', request.passReference ?? theirPass)
    .replace(':holdReference', request.holdReference ?? theirHold)
    .replace(':entry', request.entry ?? theirEntry)
    .replace(':webhookId', request.webhookId ?? theirWebhook);
  const isSearch = route === FIND_HOLDS || route === head(FIND_HOLDS);
  const query = isSearch ? `?partnerReference=${request.partnerReference ?? 'theirs'}` : '';
  const response = await fetch(`${api.baseUrl}${url}${query}`, {
    method,
    headers: {
      'x-event-ref': request.eventRef,
      ...(secretKey && { 'x-secret-key': secretKey }),
      ...(hasBody && { 'content-type': 'application/json' }),
    },
    ...(hasBody && { body }),
  });
  const headers = Object.fromEntries(response.headers);
  for (const name of ['date', 'x-request-id']) delete headers[name];
  return { status: response.status, headers, text: await response.text() };
}

interface Probe {
  what: string;
  routes: string[];
  /** What is the other's. */
  foreign: () => Request;
  /** The same of what does not exist. */
  missing: () => Request;
  /** With whose key the foreign thing is there: proof that it exists. */
  owner: () => Fixture;
  code: string;
}

const head = (route: string) => route.replace('GET ', 'HEAD ');
const readRoutes = [
  TICKETS,
  LAUNCH,
  LIST,
  SIGNED_EVENT,
  REVOKED,
  STATUS,
  PASS,
  ADMISSIONS,
  FIND_HOLDS,
  HOLD,
  WAITING,
  WEBHOOKS,
  WEBHOOK,
  ATTEMPTS,
].flatMap((route) => [route, head(route)]);

/** The pass reference with another code: what somebody would have to guess. */
const withOtherCode = (passReference: string) =>
  passReference.replace(/\d+$/, (code) => String(code === '1000000000' ? 1_000_000_001 : 1_000_000_000));

const PROBES: Probe[] = [
  {
    what: "the other's event",
    routes: [
      REGISTER,
      BULK,
      CANCEL,
      CANCEL_ALL,
      CONFIRM,
      CHANGE_ATTENDEE,
      HOLDS,
      CONFIRM_HOLDS,
      LEAVE,
      CREATE_WEBHOOK,
    ].concat(HOLD_CHANGES, WEBHOOK_CHANGES, readRoutes),
    foreign: () => ({ eventRef: theirs.eventRef, ticketId: theirTicket, passReference: theirPass }),
    missing: () => ({ eventRef: randomUUID(), ticketId: theirTicket, passReference: theirPass }),
    owner: () => theirs,
    code: '21',
  },
  {
    what: "the other's event, with a ticket that has a waiting list",
    routes: [JOIN],
    foreign: () => ({ eventRef: theirs.eventRef, ticketId: theirListed }),
    missing: () => ({ eventRef: randomUUID(), ticketId: theirListed }),
    owner: () => theirs,
    code: '21',
  },
  {
    what: "the other's test event",
    routes: [RESET],
    foreign: () => ({ eventRef: theirTrial.eventRef }),
    missing: () => ({ eventRef: randomUUID() }),
    owner: () => theirTrial,
    code: '21',
  },
  {
    what: "the other's ticket, under an event of one's own",
    routes: [REGISTER, BULK, HOLDS],
    foreign: () => ({ eventRef: mine.eventRef, ticketId: theirTicket }),
    missing: () => ({ eventRef: mine.eventRef, ticketId: NO_SUCH_TICKET }),
    owner: () => theirs,
    code: '30',
  },
  {
    what: "the other's ticket, under the shared event",
    routes: [REGISTER, BULK, HOLDS],
    foreign: () => ({ eventRef: shared.eventRef, ticketId: theirTicket }),
    missing: () => ({ eventRef: shared.eventRef, ticketId: NO_SUCH_TICKET }),
    owner: () => theirs,
    code: '30',
  },
  {
    what: "a registration of the other's event",
    routes: [
      STATUS,
      head(STATUS),
      PASS,
      head(PASS),
      ADMISSIONS,
      head(ADMISSIONS),
      CANCEL,
      CANCEL_ALL,
      CONFIRM,
      CHANGE_ATTENDEE,
    ],
    foreign: () => ({ eventRef: mine.eventRef, passReference: theirPass }),
    missing: () => ({ eventRef: mine.eventRef, passReference: 'GALA-1001-999999-1234567890' }),
    owner: () => theirs,
    code: '34',
  },
  {
    what: "the other's registration under the shared event",
    routes: [
      STATUS,
      head(STATUS),
      PASS,
      head(PASS),
      ADMISSIONS,
      head(ADMISSIONS),
      CANCEL,
      CANCEL_ALL,
      CONFIRM,
      CHANGE_ATTENDEE,
    ],
    foreign: () => ({ eventRef: shared.eventRef, passReference: theirSharedPass }),
    missing: () => ({ eventRef: shared.eventRef, passReference: withOtherCode(theirSharedPass) }),
    owner: () => theirShared,
    code: '34',
  },
  {
    what: "a hold of the other's event",
    routes: [HOLD, head(HOLD), CONFIRM_HOLDS, ...HOLD_CHANGES],
    foreign: () => ({ eventRef: mine.eventRef, holdReference: theirHold, ticketId: theirTicket }),
    missing: () => ({ eventRef: mine.eventRef, holdReference: randomUUID(), ticketId: theirTicket }),
    owner: () => theirs,
    code: '34',
  },
  {
    what: "the other's hold under the shared event",
    routes: [HOLD, head(HOLD), CONFIRM_HOLDS, ...HOLD_CHANGES],
    foreign: () => ({ eventRef: shared.eventRef, holdReference: theirSharedHold }),
    missing: () => ({ eventRef: shared.eventRef, holdReference: randomUUID() }),
    owner: () => theirShared,
    code: '34',
  },
  {
    what: "the holds of the other's own reference under the shared event",
    routes: [FIND_HOLDS, head(FIND_HOLDS)],
    foreign: () => ({ eventRef: shared.eventRef, partnerReference: 'theirs' }),
    missing: () => ({ eventRef: shared.eventRef, partnerReference: 'missing' }),
    owner: () => theirShared,
    code: '00',
  },
  {
    what: "a ticket of the other's with a waiting list, under an event of one's own",
    routes: [JOIN],
    foreign: () => ({ eventRef: mine.eventRef, ticketId: theirListed }),
    missing: () => ({ eventRef: mine.eventRef, ticketId: NO_SUCH_TICKET }),
    owner: () => theirs,
    code: '30',
  },
  {
    what: "an entry of a waiting list of the other's event",
    routes: [WAITING, head(WAITING), LEAVE],
    foreign: () => ({ eventRef: mine.eventRef, entry: theirEntry }),
    missing: () => ({ eventRef: mine.eventRef, entry: randomUUID() }),
    owner: () => theirs,
    code: '34',
  },
  {
    what: "the other's entry under the shared event",
    routes: [WAITING, head(WAITING), LEAVE],
    foreign: () => ({ eventRef: shared.eventRef, entry: theirSharedEntry }),
    missing: () => ({ eventRef: shared.eventRef, entry: randomUUID() }),
    owner: () => theirShared,
    code: '34',
  },
  {
    what: "a webhook of the other's event",
    routes: [WEBHOOK, head(WEBHOOK), ATTEMPTS, head(ATTEMPTS), ...WEBHOOK_CHANGES],
    foreign: () => ({ eventRef: mine.eventRef, webhookId: theirWebhook }),
    missing: () => ({ eventRef: mine.eventRef, webhookId: randomUUID() }),
    owner: () => theirs,
    code: '70',
  },
  {
    what: "the other's webhook under the shared event",
    routes: [WEBHOOK, head(WEBHOOK), ATTEMPTS, head(ATTEMPTS), ...WEBHOOK_CHANGES],
    foreign: () => ({ eventRef: shared.eventRef, webhookId: theirSharedWebhook }),
    missing: () => ({ eventRef: shared.eventRef, webhookId: randomUUID() }),
    owner: () => theirShared,
    code: '70',
  },
];

/** Those that no partner's key opens: they say the same to everybody. Devices at doors have their own tokens. */
const PUBLIC =
  /^(GET|HEAD|POST) (\/|\/favicon\.ico|\/health\/(live|ready)|\/docs(\/.*)?|\/door(\/.*)?|\/\.well-known\/floodgate\/pass-keys\.json|\/api\/v1\/openapi\.json)$/;

test('every route of the API is probed or says the same to everybody', async () => {
  const probed = new Set(PROBES.flatMap((probe) => probe.routes));
  const partners = [...routes].filter((route) => !PUBLIC.test(route));
  expect(partners.toSorted()).toEqual([...probed].toSorted());
  for (const route of [...routes].filter((one) => PUBLIC.test(one))) {
    const request = { eventRef: mine.eventRef };
    const toNobody = await ask(route, null, request);
    expect(await ask(route, mine.secretKey, request)).toEqual(toNobody);
    for (const known of [theirs.eventRef, theirs.secretKey, theirPass, theirs.keyId])
      expect(toNobody.text).not.toContain(known);
  }
});

describe.for(PROBES)('$what', ({ routes: probed, foreign, missing, owner, code }) => {
  test.for(probed)('is as if it did not exist: %s', async (route) => {
    noteChange(route);
    const before = await everythingOfTheirs();
    const answer = await ask(route, mine.secretKey, foreign());
    expect(answer).toEqual(await ask(route, mine.secretKey, missing()));
    if (!route.startsWith('HEAD')) expect(codeIn(answer.text)).toBe(code);
    expect(await everythingOfTheirs()).toEqual(before);

    const own = await ask(route, owner().secretKey, { ...foreign(), eventRef: owner().eventRef });
    expect(own.status).toBe(200);
  });
});

/** The code of an answer; of a bulk call that of its only registration. */
function codeIn(text: string): string {
  const { responseCode, responseData } = JSON.parse(text) as Answer['body'];
  return Array.isArray(responseData) ? (responseData as [Answer['body']])[0].responseCode : responseCode;
}

/** All that is stored of the other partner. */
async function everythingOfTheirs(): Promise<unknown> {
  const { rows } = await sql`
    select
      (select jsonb_agg(to_jsonb(t) order by id) from tickets t where event_id = ${theirs.eventId}) as tickets,
      (select jsonb_agg(to_jsonb(r) order by serial) from registrations r
        where partner_id = ${theirs.partnerId}) as registrations,
      (select jsonb_agg(to_jsonb(i) order by key) from idempotency_keys i
        where partner_id = ${theirs.partnerId}) as keys,
      (select jsonb_agg(to_jsonb(w) order by serial) from waiting_entries w
        where partner_id = ${theirs.partnerId}) as waiting,
      (select jsonb_agg(to_jsonb(e) order by id) from webhook_endpoints e
        where partner_id = ${theirs.partnerId}) as webhooks,
      (select jsonb_agg(to_jsonb(c) order by id) from journal_consumers c
        where partner_id = ${theirs.partnerId}) as consumers,
      (select jsonb_agg(to_jsonb(s) order by id) from webhook_secrets s) as webhook_secrets,
      (select jsonb_agg(to_jsonb(k)) from secret_keys k
        where partner_id = ${theirs.partnerId}) as secrets`.execute(given.database.db);
  return rows[0];
}

test("a body that is wrong says no more about the other's event", async () => {
  for (const body of ['{', '[]', '{}', 'x'.repeat(40_000)]) {
    for (const route of [REGISTER, BULK]) {
      const answer = await ask(route, mine.secretKey, { eventRef: theirs.eventRef, body });
      expect(answer).toEqual(await ask(route, mine.secretKey, { eventRef: randomUUID(), body }));
      expect(JSON.parse(answer.text)).toMatchObject({ responseCode: '21' });
    }
  }
});

test('a wrong secret for a key that exists is answered like a key that does not', async () => {
  const unknown = `fg_${'0'.repeat(16)}_${'A'.repeat(43)}`;
  const wrong = `${theirs.secretKey.slice(0, -43)}${'A'.repeat(43)}`;
  for (const route of [REGISTER, ...readRoutes]) {
    const answer = await ask(route, wrong, { eventRef: theirs.eventRef });
    for (const [secretKey, eventRef] of [
      [unknown, theirs.eventRef],
      [wrong, randomUUID()],
      ['fg_', theirs.eventRef],
    ] as const)
      expect(await ask(route, secretKey, { eventRef })).toEqual(answer);
    expect(answer.status).toBe(401);
  }
});

test("a registration that names another's ticket does not wait for it: nothing of it is locked", async () => {
  const held = await holdTicket(given.database.db, theirTicket);
  onTestFinished(() => held.release());
  const answer = await ask(REGISTER, mine.secretKey, { eventRef: mine.eventRef, ticketId: theirTicket });
  expect(JSON.parse(answer.text)).toMatchObject({ responseCode: '30' });
});

describe('the work that is done for a caller', () => {
  /** The statements that the API runs to find out what a caller may do. */
  async function statementsFor(secretKey: string, eventRef: string): Promise<string[]> {
    const statements: string[] = [];
    await accessControl(recording(given.database.db, statements))(secretKey, eventRef);
    return statements;
  }

  test('is the same whether a key does not exist or its secret is wrong, is revoked or expired', async () => {
    const expired = await issueKey(given.database.db, mine.partnerId, new Date(0));
    const unknown = `fg_${'0'.repeat(16)}_${'A'.repeat(43)}`;
    const wrong = `${theirs.secretKey.slice(0, -43)}${'A'.repeat(43)}`;
    const statements = await statementsFor(unknown, theirs.eventRef);
    expect(statements).toHaveLength(1);
    for (const secretKey of [wrong, expired.secretKey])
      expect(await statementsFor(secretKey, theirs.eventRef)).toEqual(statements);
  });

  test("is the same whether an event does not exist or is another's", async () => {
    // The first use of a key in an hour is noted once; after that, the statements are those of the check.
    await statementsFor(mine.secretKey, mine.eventRef);
    const ball = await createEvent(given.database.db, {
      name: 'Ball',
      passPrefix: 'BALL',
      duplicatePolicy: 'allow',
    });
    const statements = await statementsFor(mine.secretKey, randomUUID());
    expect(statements).toHaveLength(1);
    for (const eventRef of [theirs.eventRef, ball.ref])
      expect(await statementsFor(mine.secretKey, eventRef)).toEqual(statements);
  });
});
