import { grantPrivileges, type Database } from '@floodgate/database';
import { randomBytes } from 'node:crypto';
import { grantQueue, parseQueueUrl } from '@floodgate/queue';
import { sql } from 'kysely';
import { afterAll, expect, inject } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { TEMPLATE_NAMESPACE } from '../harness/database-url.ts';
import { eventTest } from '../harness/event-test.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { PartnerClient } from '../harness/partner-client.ts';
import { exchange, requestText } from '../harness/raw-http.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

const REGISTER = '/api/v1/events/register';

/** What must not be logged, each a text that occurs nowhere else. */
const PASSWORD = randomBytes(12).toString('hex');
const ATTENDEE = {
  fullName: 'Wilhelmina Featherstonehaugh',
  emailAddress: 'w.featherstonehaugh@secret.example',
  phoneNumber: '+44 7700 900123',
  gender: 'unmistakable gender',
  tableOrSeat: 'unmistakable seat',
  extraData1: 'unmistakable extra one',
  extraData2: 'unmistakable extra two',
};

test.override('ticket', {});

let server: Database;
let role: string;
let proxy: TcpProxy;
let api: InProcessApi;
let partner: PartnerClient;

test.beforeAll(async () => {
  server = connectInTest(inject('postgresUrl'));
  role = `floodgate_test_${randomBytes(6).toString('hex')}`;
  await sql`create role ${sql.id(role)} login password ${sql.lit(PASSWORD)}`.execute(server);
  await grantPrivileges(given.database.db, 'api', role);
  await grantQueue(parseQueueUrl(given.database.url), role, TEMPLATE_NAMESPACE);
  proxy = await TcpProxy.start(given.database.url);
  api = await startInProcessApi({
    DATABASE_URL: withCredentials(proxy.through(given.database.url)),
    QUEUE_URL: withCredentials(given.database.url),
    ANSWER_WITHIN_MS: '1500',
  });
  partner = new PartnerClient(api.baseUrl, given.gala);
});

afterAll(async () => {
  await api.close();
  await proxy.stop();
  await sql`drop owned by ${sql.id(role)}`.execute(given.database.db);
  await sql`drop role ${sql.id(role)}`.execute(server);
  await server.destroy();
});

function withCredentials(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = PASSWORD;
  return url.href;
}

const register = async (differing = {}, headers = {}) => {
  const body = { ...ATTENDEE, organizedEventTicketID: given.ticketId, ...differing };
  return (await partner.register(body, headers)).body.responseCode;
};

const registerRaw = (body: string, headers: Record<string, string>) =>
  exchange(
    api.baseUrl,
    requestText(
      `POST ${REGISTER}?name=${encodeURIComponent(ATTENDEE.fullName)}`,
      {
        'x-secret-key': given.gala.secretKey,
        'x-event-ref': given.gala.eventRef,
        'content-type': 'application/json',
        ...headers,
      },
      body,
    ),
  );

/** Lets Postgres refuse registrations with a message, detail and hint that quote the row. */
async function withQuotingTrigger(act: () => Promise<unknown>): Promise<void> {
  await sql`
    create function quote_row() returns trigger language plpgsql as $$ begin
      raise exception 'refused %', new using detail = new::text, hint = new.full_name, errcode = '22000';
    end $$`.execute(given.database.db);
  await sql`
    create trigger quote_row before insert on registrations for each row execute function quote_row()`.execute(
    given.database.db,
  );
  await act();
  await sql`drop trigger quote_row on registrations`.execute(given.database.db);
}

async function driveGoodTraffic(): Promise<void> {
  expect(await register()).toBe('00');
  expect(await register({}, { 'idempotency-key': ATTENDEE.extraData1.replaceAll(' ', '-') })).toBe('00');
  const { body } = await partner.tickets();
  expect(body.responseCode).toBe('00');
}

async function driveBadTraffic(): Promise<void> {
  const text = JSON.stringify(ATTENDEE);
  expect(await register({ emailAddress: ATTENDEE.fullName })).toBe('11');
  expect(await register({}, { 'x-secret-key': `${given.gala.secretKey}x` })).toBe('20');
  expect(await register({}, { 'x-event-ref': ATTENDEE.fullName })).toBe('12');
  expect((await partner.register(text.slice(0, -1))).body.responseCode).toBe('10');
  expect((await partner.register(text, { 'content-type': 'application/xml' })).body.responseCode).toBe('10');
  expect((await partner.registration(ATTENDEE.fullName)).body.responseCode).toBe('34');
  expect((await partner.request(`/api/${given.gala.secretKey}`)).body.responseCode).toBe('60');
  expect((await partner.request(`/api/${given.gala.secretKey}%zz`)).body.responseCode).toBe('10');
  expect((await registerRaw(text, { 'content-length': text })).body.responseCode).toBe('10');
  expect((await registerRaw(text, {})).body.responseCode).toBe('10');
}

async function driveThroughFailures(): Promise<void> {
  await withQuotingTrigger(async () => expect(await register()).toBe('99'));
  // Again and again, because failures of batches are logged once a second at most.
  await waitUntil('a lost connection is logged', async () => {
    await loseConnectionInFlight();
    return api.log().includes('"type":"ConnectionLost"');
  });
  proxy.setMode('down');
  await waitUntil('Postgres is away', async () => (await register()) === '90');
  proxy.setMode('swallow-answers');
  expect(await register()).toMatch(/^9[01]$/);
  proxy.setMode('pass');
  await waitUntil('Postgres is back', async () => (await register()) === '00');
}

async function loseConnectionInFlight(): Promise<void> {
  const held = await holdTicket(given.database.db, given.ticketId);
  const code = register();
  await held.waiters(1);
  proxy.setMode('down');
  await held.release();
  proxy.setMode('pass');
  expect(await code).toBe('00');
}

test('at log level trace, no traffic and no failure brings a secret or an attendee into the log', async () => {
  await driveGoodTraffic();
  await driveBadTraffic();
  await driveThroughFailures();

  const log = api.log().toLowerCase();
  const isLogged = (text: string) => log.includes(text.toLowerCase());
  // Failures are logged, so there was an occasion to say too much.
  expect(['"code":"22000"', '"type":"ConnectionLost"', '"type":"ConnectionFailed"'].every(isLogged)).toBe(
    true,
  );
  const secrets = [
    PASSWORD,
    given.gala.secretKey,
    given.gala.secretKey.slice(-43),
    ...Object.values(ATTENDEE),
  ];
  const parts = ['Wilhelmina', 'featherstonehaugh', 'unmistakable', '900123'];
  expect([...secrets, ...parts].filter(isLogged)).toEqual([]);
});
