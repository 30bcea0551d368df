import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { sql } from 'kysely';
import { openFloodgate } from '../contenders/floodgate.ts';
import type { Mode } from '../mode.ts';
import { assertReconciled } from '../rates/books.ts';
import { atLeast, atMost, type Values } from '../report/results.ts';
import { createCall, dataOf, type PartnerCall } from './calls.ts';

const CALLERS = 128;
const MOST_SEATS = 4;
const ABANDONED_SHARE = 0.9;
/**
 * Baskets are held for 120 s. The bench moves their time: an abandoned one expires after this many seconds.
 */
const HOLD_SECONDS = 120;
const MOVED_SECONDS = 0.5;
const MOVE_EVERY_MS = 200;
const LOOK_EVERY_MS = 50;
const RETRY_MS = 200;
/** The worker expires holds every second. */
const FREE_FOR_MS = 1_000;
const SOLD_OUT = '32';
const CONTACT = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
const ABANDONED = 'abandoned';
const TIMEOUT_MS = 1_800_000;

interface Refusal {
  seats: number;
  sentAt: number;
}

const TARGETS = {
  'seats not sold, or sold twice': atMost(0),
  'callers refused while their seats were free for 1 s': atMost(0),
  // The worker's interval, and the time that it needs.
  'longest s until the seats of an expired hold are free': atMost(2),
  'seats held per second': atLeast(5_000),
};
const SEATS_PER_SECOND = 300;
const OVERHEAD_SECONDS = 30;

/**
 * Sells a ticket to callers who hold baskets of 1 to 4 seats, abandon nine of ten, and confirm the others,
 * until it is sold out. Measures the seats per second, whether all seats are sold, and whether a caller was
 * refused while its seats were free.
 */
export const ABANDONED_BASKETS: Mode = {
  name: 'abandoned',
  help: 'a ticket that sells out although nine of ten baskets are abandoned',
  usual: { rows: 100_000 },
  duration: ({ rows }) => rows / SEATS_PER_SECOND + OVERHEAD_SECONDS,
  measure: async ({ servers, results, progress, signal }, { rows: seats }) => {
    await using floodgate = await openFloodgate(servers, { api: { HOLD_SHARE_PERCENT: '100' } });
    const { db, baseUrl } = floodgate;
    progress.say('a ticket sells out');
    const fixture = await createFixture(db);
    const ticketId = await fixture.addTicket({ capacity: seats });
    const sale = new Sale(db, fixture, ticketId, createCall(baseUrl, fixture, CALLERS));
    const values = await sale.sellOut(seats, signal);
    await assertReconciled(db);
    results.add('Abandoned baskets', `a ticket of ${seats.toLocaleString('en-US')} seats`, values, TARGETS);
  },
};

/** Runs a function again and again until the signal. */
async function every(ms: number, signal: AbortSignal, run: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await run();
    await delay(ms);
  }
}

class Sale {
  readonly #db: Database;
  readonly #shardId: number;
  readonly #ticketId: number;
  readonly #call: PartnerCall;
  /** Refusals since the last look at the ticket. */
  #unjudged: Refusal[] = [];
  #refused = 0;
  #wronglyRefused = 0;
  /** By number of seats less one: since when so many are free, at every look. */
  readonly #freeSince = Array.from({ length: MOST_SEATS }, () => Infinity);
  #taken = 0;
  #longestOverdueMs = 0;
  #held = 0;
  #confirmed = 0;
  /** Seats held a second until the first refusal. */
  #perSecond: number | undefined;
  readonly #startedAt = performance.now();

  constructor(db: Database, { shardId }: Fixture, ticketId: number, call: PartnerCall) {
    this.#db = db;
    this.#shardId = shardId;
    this.#ticketId = ticketId;
    this.#call = call;
  }

  async sellOut(seats: number, signal: AbortSignal): Promise<Values> {
    const over = new AbortController();
    const background = [
      every(MOVE_EVERY_MS, over.signal, () => this.#moveTime()),
      every(LOOK_EVERY_MS, over.signal, () => this.#look()),
    ];
    const isOver = () => this.#confirmed >= seats || performance.now() - this.#startedAt > TIMEOUT_MS;
    const buy = async () => {
      while (!isOver() && !signal.aborted) await this.#buy(Math.min(MOST_SEATS, seats - this.#confirmed));
    };
    await Promise.all(Array.from({ length: CALLERS }, buy));
    over.abort();
    await Promise.all(background);
    signal.throwIfAborted();
    await this.#look();
    return {
      'seats held per second': this.#perSecond ?? 0,
      'longest s until the seats of an expired hold are free': this.#longestOverdueMs / 1_000,
      'seats not sold, or sold twice': Math.abs(seats - this.#taken),
      'callers refused': this.#refused,
      'callers refused while their seats were free for 1 s': this.#wronglyRefused,
      'minutes until sold out': (performance.now() - this.#startedAt) / 60_000,
    };
  }

  /** Holds a basket, and abandons or confirms it. */
  async #buy(most: number): Promise<void> {
    const seats = 1 + Math.floor(Math.random() * Math.max(1, most));
    const isAbandoned = Math.random() < ABANDONED_SHARE;
    const tickets = [{ organizedEventTicketID: this.#ticketId, seats }];
    const body = { tickets, ...(isAbandoned && { partnerReference: ABANDONED }) };
    const sentAt = performance.now();
    const answer = await this.#call('/holds', body, { 'hold-for': String(HOLD_SECONDS) });
    if (answer.responseCode === SOLD_OUT) {
      this.#perSecond ??= this.#held / ((performance.now() - this.#startedAt) / 1_000);
      this.#unjudged.push({ seats, sentAt });
      await delay(RETRY_MS);
      return;
    }
    const { holdReference } = dataOf('/holds', answer) as { holdReference: string };
    this.#held += seats;
    if (isAbandoned) return;
    const path = `/holds/${holdReference}/confirm`;
    dataOf(path, await this.#call(path, { contact: CONTACT }));
    this.#confirmed += seats;
  }

  /** Ends the abandoned baskets that are old enough, as if two minutes had passed. */
  #moveTime(): Promise<unknown> {
    return sql`
      update registrations set held_until = now()
      where shard_id = ${this.#shardId} and ticket_id = ${this.#ticketId} and partner_reference = ${ABANDONED}
        and held_until > now() and held_until < 'infinity' and cancelled_at is null
        and reserved_at < now() - make_interval(secs => ${MOVED_SECONDS})`.execute(this.#db);
  }

  /** Reads the ticket, and judges the refusals since the last look. */
  async #look(): Promise<void> {
    const { rows } = await sql<{ free: number; taken: number; overdueMs: number }>`
      select capacity - taken as free, taken, (
        select coalesce(extract(epoch from now() - min(held_until)), 0)::float8 * 1000 from registrations
        where shard_id = ${this.#shardId} and held_until <= now() and held_until < 'infinity'
          and cancelled_at is null
      ) as "overdueMs"
      from tickets where shard_id = ${this.#shardId} and id = ${this.#ticketId}`.execute(this.#db);
    const { free, taken, overdueMs } = rows[0]!;
    const now = performance.now();
    this.#taken = taken;
    this.#longestOverdueMs = Math.max(this.#longestOverdueMs, overdueMs);
    this.#freeSince.forEach(
      (since, index) => (this.#freeSince[index] = free > index ? Math.min(since, now) : Infinity),
    );
    const wrong = this.#unjudged.filter(
      ({ seats, sentAt }) => this.#freeSince[seats - 1]! <= sentAt - FREE_FOR_MS,
    );
    this.#refused += this.#unjudged.length;
    this.#wronglyRefused += wrong.length;
    this.#unjudged = [];
  }
}
