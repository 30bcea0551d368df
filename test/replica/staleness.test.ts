import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { PartnerClient } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { registerAndFinalize } from './finalized.ts';
import { startPrimaryAndStandby, type PrimaryAndStandby } from './primary-and-standby.ts';

// The API runs in this process: commits, requests and answers are timed by one clock.

/** What partners are promised. */
const MAX_AGE_MS = { tickets: 1_000, list: 500 };
const PAUSES = 4;
const READ_AT_PAUSE = 5;

let servers: PrimaryAndStandby;
let api: InProcessApi;
let gala: Fixture;
let partner: PartnerClient;
let ticketId: number;

beforeAll(async () => {
  servers = await startPrimaryAndStandby();
  api = await startInProcessApi({
    DATABASE_URL: servers.primary.url(),
    DATABASE_REPLICA_URL: servers.standby.url(),
  });
}, 120_000);
afterAll(async () => {
  await api.close();
  await servers.stop();
});
beforeEach(async () => {
  gala = await createFixture(servers.db);
  partner = new PartnerClient(api.baseUrl, gala);
  ticketId = await gala.addTicket({ capacity: 1_000_000 });
});

/** A number that grows on the primary, with the moment at which each of its values had committed. */
class Growing {
  #committed: { value: number; at: number }[] = [];

  note(value: number): void {
    this.#committed.push({ value, at: performance.now() });
  }

  /** What everybody must see who is shown what had committed at `moment`. */
  at(moment: number): number {
    return this.#committed.findLast(({ at }) => at <= moment)?.value ?? 0;
  }

  get last(): number {
    return this.#committed.at(-1)?.value ?? 0;
  }
}

/** Runs each piece of work again and again until `during` has ended. */
async function whileRepeating(works: (() => Promise<void>)[], during: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const loop = async (work: () => Promise<void>) => {
    while (!over.signal.aborted) await work();
  };
  const loops = Promise.all(works.map(loop));
  try {
    await Promise.race([during(), loops]);
  } finally {
    over.abort();
    await loops;
  }
}

/** Lets the standby fall behind until the primary is read, and catch up until it is read itself, some times. */
async function pauseNowAndThen(kind: 'tickets' | 'list', onPaused = () => Promise.resolve()): Promise<void> {
  const untilReads = async (server: 'primary' | 'standby') => {
    const before = servers[server].statements(kind);
    await waitUntil(`the ${server} is read`, () => servers[server].statements(kind) > before + 1);
  };
  for (let pause = 0; pause < PAUSES; pause += 1) {
    await untilReads('standby');
    await servers.pause();
    await onPaused();
    await untilReads('primary');
    await servers.resume();
  }
  await untilReads('standby');
}

/** A partner with an event and a ticket of its own. */
async function addPartner(): Promise<PartnerClient> {
  const other = await createFixture(servers.db);
  await other.addTicket();
  return new PartnerClient(api.baseUrl, other);
}

async function grow(db: Database, growing: Growing): Promise<void> {
  const value = growing.last + 1;
  await sql`update tickets set capacity = 1000000 + ${value}::integer`.execute(db);
  growing.note(value);
}

test('Get Tickets is never older than a second, whatever the standby does', async () => {
  const growing = new Growing();
  const tooOld: object[] = [];
  const ask = async (asking: PartnerClient) => {
    const expected = growing.at(performance.now() - MAX_AGE_MS.tickets);
    const { body } = await asking.tickets();
    const [ticket] = body.responseData as { count: number }[];
    const shown = ticket!.count - 1_000_000;
    if (shown < expected) tooOld.push({ shown, expected });
  };
  // Events whose tickets are read for the first time, and remembered, when the standby begins to lag.
  const unread = await Promise.all(Array.from({ length: PAUSES * READ_AT_PAUSE }, addPartner));
  const asking = [partner];
  const readAtPause = async () => {
    for (const next of unread.splice(0, READ_AT_PAUSE)) {
      await grow(servers.db, growing);
      await ask(next);
      asking.push(next);
    }
  };
  await grow(servers.db, growing);
  await servers.caughtUp();
  const askAll = async () => {
    for (const one of asking) await ask(one);
  };
  await whileRepeating([() => grow(servers.db, growing), askAll], () =>
    pauseNowAndThen('tickets', readAtPause),
  );
  expect(tooOld).toEqual([]);
}, 120_000);

test('the list is never older than half a second, and whoever follows it skips nothing and sees nothing twice', async () => {
  const growing = new Growing();
  const finalized: string[] = [];
  const followed: string[] = [];
  const wrong: object[] = [];
  let cursor = 0;
  const write = async () => {
    finalized.push(...(await registerAndFinalize(servers.db, partner, ticketId, 3)));
    growing.note(finalized.length);
  };
  const follow = async () => {
    const expected = growing.at(performance.now() - MAX_AGE_MS.list);
    const { body } = await partner.request(`/api/v1/events/registrations?limit=1000&after=${cursor}`);
    const page = body.responseData as {
      registrations: { passReference: string }[];
      cursor: string;
      more: boolean;
    };
    followed.push(...page.registrations.map(({ passReference }) => passReference));
    if (Number(page.cursor) < cursor) wrong.push({ cursor, next: page.cursor });
    if (!page.more && followed.length < expected) wrong.push({ shown: followed.length, expected });
    cursor = Number(page.cursor);
  };
  await whileRepeating([write, follow], () => pauseNowAndThen('list'));
  await waitUntil('all was followed', async () => {
    await follow();
    return followed.length >= finalized.length;
  });
  expect(wrong).toEqual([]);
  expect(followed.toSorted()).toEqual(finalized.toSorted());
}, 120_000);
