import { perform } from '@floodgate/audit';
import { weighPartnerAction } from '@floodgate/partners/actions';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterEach, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({
  sharesEvent: true,
  own: 'what other files left would change what is measured',
});

/** A commit takes at least 100 ms, so the service completes at most 50 registrations per second. */
const SETTINGS = { BATCH_LIMIT: '5', WAITING_LIMIT: '20', ANSWER_WITHIN_MS: '20000' };
const COMMIT_DELAY_MICROS = 100_000;

// Set before the API connects.
test.override('apiSettings', async ({ db: owner }) => {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(owner);
  const name = sql.id(rows[0]!.name);
  await sql`alter database ${name} set commit_delay = ${sql.lit(COMMIT_DELAY_MICROS)}`.execute(owner);
  await sql`alter database ${name} set commit_siblings = 0`.execute(owner);
  return SETTINGS;
});

afterEach(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

/** A partner's platform that keeps a number of requests in flight and records the answers. */
class Platform {
  readonly answers: Answer[] = [];
  readonly #client: PartnerClient;
  readonly #ticketId: number;
  #isOver = false;
  #senders: Promise<unknown> = Promise.resolve();

  constructor(partner: Fixture, ticketId: number) {
    this.#client = new PartnerClient(given.api.baseUrl, partner);
    this.#ticketId = ticketId;
  }

  send(atOnce: number): this {
    const send = async () => {
      while (!this.#isOver) this.answers.push(await this.#client.register(attendee(this.#ticketId)));
    };
    this.#senders = Promise.all(Array.from({ length: atOnce }, send));
    return this;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#senders;
  }

  count(code: string): number {
    return this.answers.filter(({ body }) => body.responseCode === code).length;
  }
}

async function openPlatform(weight = 1): Promise<Platform> {
  const partner = await createFixture(given.database.db);
  if (weight !== 1)
    await perform(given.database.db, weighPartnerAction, { partnerId: partner.partnerId, weight }, 'jane');
  return new Platform(partner, await partner.addTicket({ capacity: 100_000 }));
}

test('a partner who asks for ten times the capacity keeps no other from its seats', async () => {
  const flood = (await openPlatform()).send(200);
  await waitUntil('the room is full', () => flood.count('90') > 100);
  const modest = (await openPlatform()).send(4);
  await waitUntil('it has its answers', () => modest.answers.length >= 60);
  await Promise.all([flood.end(), modest.end()]);
  expect(modest.count('00') / modest.answers.length).toBeGreaterThanOrEqual(0.95);
  expect(flood.answers.length).toBeGreaterThan(10 * flood.count('00'));
  const refused = flood.answers.filter(({ body }) => body.responseCode === '90');
  for (const answer of refused) expectFailure(answer, '90', 503);
  // The delays differ, so the partners do not all retry at once.
  expect(new Set(refused.map(({ headers }) => headers.get('retry-after'))).size).toBeGreaterThan(1);
});

test('those who ask for more than there is get seats by their weights', async () => {
  const light = (await openPlatform()).send(100);
  const heavy = (await openPlatform(4)).send(100);
  await waitUntil('both were refused', () => light.count('90') > 100 && heavy.count('90') > 100);
  const [lightBefore, heavyBefore] = [light.count('00'), heavy.count('00')];
  await waitUntil('many have their seats', () => light.count('00') + heavy.count('00') > 200);
  const ratio = (heavy.count('00') - heavyBefore) / (light.count('00') - lightBefore);
  await Promise.all([light.end(), heavy.end()]);
  expect(ratio).toBeGreaterThan(3);
  expect(ratio).toBeLessThan(5);
});

test('a bulk call that is larger than its share, and than a group, gets its turn beside a flood', async () => {
  const flood = (await openPlatform()).send(200);
  await waitUntil('the room is full', () => flood.count('90') > 100);
  const group = await createFixture(given.database.db);
  const ticketId = await group.addTicket({ capacity: 1_000 });
  const answer = await new PartnerClient(given.api.baseUrl, group).request('/api/v1/events/register/bulk', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      mode: 'all',
      registrations: Array.from({ length: 100 }, () => attendee(ticketId)),
    }),
  });
  await flood.end();
  expect(answer.body.responseCode).toBe('00');
  expect(answer.body.responseData).toHaveLength(100);
});
