import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { startApiProcess } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'what other files left would change what is measured' });

// Real connections that are slow for real seconds. packages/http/src/server.test.ts tests the limits with one
// connection.

const REGISTER = '/api/v1/events/register';

test.override('ticket', { capacity: 100_000 });

let api: Awaited<ReturnType<typeof startApiProcess>>;
let connections: RawConnection[];

test.beforeAll(async () => {
  api = await startApiProcess({ DATABASE_URL: given.database.url, QUEUE_URL: 'redis://127.0.0.1:1' });
});

afterAll(async () => {
  expect(await api.end(), api.output()).toBe(0);
});

beforeEach(() => void (connections = []));
afterEach(() => connections.forEach((connection) => connection.close()));

async function openConnection(): Promise<RawConnection> {
  const connection = await RawConnection.open(api.baseUrl);
  connections.push(connection);
  return connection;
}

/** Registers this many at once. Returns the codes of the answers. */
async function register(count: number): Promise<Set<string>> {
  const partner = new PartnerClient(api.baseUrl, given.gala);
  const answers = await Promise.all(
    Array.from({ length: count }, () => partner.register(attendee(given.ticketId))),
  );
  return new Set(answers.map(({ body }) => body.responseCode));
}

async function storedRegistrations(): Promise<number> {
  const rows = tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('serial')
    .where('event_id', '=', given.gala.eventId);
  return (await rows.execute()).length;
}

const registrationHead = (contentLength: number) =>
  requestText(`POST ${REGISTER}`, {
    host: 'api',
    'x-secret-key': given.gala.secretKey,
    'x-event-ref': given.gala.eventRef,
    'content-type': 'application/json',
    'content-length': String(contentLength),
  });

const TRICKLE_MS = 100;

test.each([
  ['the headers', () => `POST ${REGISTER} HTTP/1.1\r\nhost: api\r\n`, 'x-more: 1\r\n'],
  ['the body', () => registrationHead(10_000), ' '],
])(
  'connections that send %s drop by drop are cut; meanwhile others are served',
  async (_what, start, more) => {
    const slow = await Promise.all(Array.from({ length: 200 }, openConnection));
    for (const connection of slow) connection.send(start());
    const trickle = setInterval(() => slow.forEach((connection) => connection.send(more)), TRICKLE_MS);
    let cut = 0;
    const allCut = Promise.all(
      slow.map(async (connection) => {
        const received = await connection.closed();
        cut += 1;
        return received;
      }),
    );
    expect(await register(50)).toEqual(new Set(['00']));
    expect(cut).toBe(0);
    for (const received of await allCut) expect(received).toContain('The request did not arrive in time');
    clearInterval(trickle);
    expect(await register(50)).toEqual(new Set(['00']));
    expect(await storedRegistrations()).toBe(100);
  },
);
