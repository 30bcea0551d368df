import { perform } from '@floodgate/audit';
import { weighPartnerAction } from '@floodgate/partners/actions';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { PATIENT, startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'compares the books of its database' });

// Who is refused and who is served first, while a ticket is locked and the queue of the API is full.
// admission-queue.test.ts and partner-queues.test.ts test the rules, fair-shares.timing.test.ts measures
// shares under load.

const BATCH_LIMIT = 5;
const WAITING_LIMIT = 20;

let api: InProcessApi;
let blocker: Platform;
/** Unlocks the ticket. */
let release: () => Promise<void>;
/** The group in flight, which waits for the locked ticket. */
let inFlight: Promise<Answer[]>;

test.beforeAll(async () => {
  const settings = { BATCH_LIMIT: String(BATCH_LIMIT), WAITING_LIMIT: String(WAITING_LIMIT), ...PATIENT };
  // With a clock that stands still, nothing is refused because of its age.
  api = await startInProcessApi({ DATABASE_URL: given.database.url, ...settings }, new ManualClock());
});

afterAll(() => api.close());

beforeEach(async () => {
  blocker = await openPlatform();
  const held = await holdTicket(given.database.db, blocker.ticketId);
  let released: Promise<void> | undefined;
  release = () => (released ??= held.release());
  inFlight = blocker.register(1);
  await held.waiters(1);
});

afterEach(async () => {
  await release();
  expect(codesOf(await inFlight)).toEqual({ '00': 1 });
  expect(await reconcile(given.database.db)).toEqual([]);
});

class Platform {
  readonly partnerId: number;
  readonly ticketId: number;
  readonly client: PartnerClient;

  constructor(fixture: Fixture, ticketId: number) {
    this.partnerId = fixture.partnerId;
    this.ticketId = ticketId;
    this.client = new PartnerClient(api.baseUrl, fixture);
  }

  readonly register = (count: number) =>
    Promise.all(Array.from({ length: count }, () => this.client.register(attendee(this.ticketId))));

  /** Sends more registrations than fit. Resolves when this many of them wait for the locked ticket, and all others are refused. */
  async fill(waiting: number) {
    const refused: Answer[] = [];
    const granted: Answer[] = [];
    const send = async () => {
      const answer = await this.client.register(attendee(this.ticketId));
      (answer.body.responseCode === '90' ? refused : granted).push(answer);
    };
    const sent = 3 * WAITING_LIMIT;
    const all = Promise.all(Array.from({ length: sent }, send));
    await waitUntil(`${waiting} wait, the others are refused`, () => refused.length === sent - waiting);
    return { refused, served: all.then(() => granted) };
  }
}

async function openPlatform(weight = 1): Promise<Platform> {
  const partner = await createFixture(given.database.db);
  if (weight !== 1)
    await perform(given.database.db, weighPartnerAction, { partnerId: partner.partnerId, weight }, 'jane');
  return new Platform(partner, await partner.addTicket({ capacity: 100_000 }));
}

function codesOf(answers: readonly Answer[]): Record<string, number> {
  const byCode = Map.groupBy(answers, ({ body }) => body.responseCode);
  return Object.fromEntries([...byCode].map(([code, same]) => [code, same.length]));
}

/** Returns the partners of the registrations, in the order in which they were made. */
async function order(...platforms: Platform[]): Promise<number[]> {
  const ids = platforms.map(({ partnerId }) => partnerId);
  const { rows } = await sql<{ partner: number }>`
    select partner_id as partner from registrations where partner_id = any(${ids}::integer[])
    order by serial`.execute(given.database.db);
  return rows.map(({ partner }) => ids.indexOf(partner));
}

test('a partner who fills the queue is refused; another is admitted up to its share, and served in turn with the first', async () => {
  const flood = await openPlatform();
  const ofFlood = await flood.fill(WAITING_LIMIT);
  for (const answer of ofFlood.refused) {
    expectFailure(answer, '90', 503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const other = await openPlatform();
  const share = WAITING_LIMIT / 2;
  const ofOther = await other.fill(share);
  await release();
  expect(codesOf(await ofOther.served)).toEqual({ '00': share });
  expect(codesOf(await ofFlood.served)).toEqual({ '00': WAITING_LIMIT });
  // They alternate. The first one was alone when it filled the queue, so it may have one group of its own.
  const served = await order(flood, other);
  expect(served.lastIndexOf(1) + 1).toBeLessThanOrEqual(2 * share + BATCH_LIMIT);
});

test('those who ask for more than there is are admitted and served by their weights', async () => {
  const [light, heavy] = [await openPlatform(), await openPlatform(4)];
  const share = (WAITING_LIMIT * 4) / 5;
  const ofLight = await light.fill(WAITING_LIMIT);
  const ofHeavy = await heavy.fill(share);
  await release();
  expect(codesOf(await ofLight.served)).toEqual({ '00': WAITING_LIMIT });
  expect(codesOf(await ofHeavy.served)).toEqual({ '00': share });
  // In a group are four registrations of the heavy one and one of the light one, which may have had one group
  // of its own.
  const served = await order(light, heavy);
  expect(served.lastIndexOf(1) + 1).toBeLessThanOrEqual((share * 5) / 4 + BATCH_LIMIT);
});

test('a bulk call that is larger than its share, and than a group, gets its turn beside a flood', async () => {
  const flood = await openPlatform();
  const ofFlood = await flood.fill(WAITING_LIMIT);
  const group = await openPlatform();
  const people = Array.from({ length: 100 }, () => attendee(group.ticketId));
  const answered = group.client.registerBulk(people, 'all');
  // Then its partner has more than its share, and the API refuses it before it reads the body. Otherwise the
  // answer is 10.
  const isFull = async () => (await group.client.register('{')).body.responseCode === '90';
  await waitUntil('the bulk call waits', isFull);
  await release();
  const answer = await answered;
  expect(answer.body.responseCode).toBe('00');
  expect(answer.body.responseData).toHaveLength(100);
  expect(codesOf(await ofFlood.served)).toEqual({ '00': WAITING_LIMIT });
});
