import { setTimeout as delay } from 'node:timers/promises';
import { keepPrivate } from '../harness/private-data.ts';
import { fillBasket, useBasket } from './baskets.ts';
import {
  BACKOFF_MS,
  Calls,
  endOf,
  EVENTS,
  givenSeats,
  MAYBE,
  namedAttendeeOf,
  nameOf,
  passReferenceOf,
  PERSIST_MS,
  registrationOf,
  RETRY_CODES,
  type Call,
  type PartnersOptions,
} from './calls.ts';
import {
  isSaid,
  labelOf,
  type CalledSeat,
  type CallRecord,
  type History,
  type RequestRecord,
  type WaitingRecord,
} from './history.ts';
import { join, tend } from './waiting-list.ts';

const CLIENTS = 16;
/** Of test events. */
const TESTERS = 4;
const RESET_PERCENT = 4;
const LOOKUP_PERCENT = 10;
const LAUNCH_PERCENT = 5;
const BULK_PERCENT = 10;
const BULK_SIZE = { from: 1, to: 40 };
const GROUP_PERCENT = 50;
const CANCEL_PERCENT = 20;
const HOLD_PERCENT = 20;
/** Of those that are held. */
const CONFIRM_PERCENT = 40;
/** The others are confirmed by several callers at every API at the same time, when most of them are finalized. */
const RUSH_AFTER_MS = 1_000;
const CALLERS_PER_API = 2;
const RUSH_CANCEL_PERCENT = 30;
const BASKET_PERCENT = 20;
const REPLACE_PERCENT = 15;
const JOIN_PERCENT = 15;
const TEND_PERCENT = 60;
const MOST_RIVALS = 2;
/** In seconds. Longer than a round: the suite itself ends holds. */
const HOLD_FOR = '1800';
const THINK_MS = 4;

const REGISTER = `${EVENTS}/register`;

/** A seat that is held since then. */
interface Held {
  request: RequestRecord;
  since: number;
}

/** Several clients of a partner's platform, each busy with one call at a time, that write everything down. */
export class Partners {
  readonly #calls: Calls;
  readonly #clients: Promise<void>[];
  /** What is left for a rush, by event, the oldest first. */
  readonly #held: Held[][];
  /** Entries of waiting lists that a partner still reads, by event. */
  readonly #waiting: WaitingRecord[][];
  #isOver = false;

  constructor(options: PartnersOptions) {
    this.#calls = new Calls(options);
    this.#held = options.events.map(() => []);
    this.#waiting = options.events.map(() => []);
    // What all their names begin with: to look for each by itself would take the suite longer than its partners wait.
    keepPrivate([nameOf(options.roundId)]);
    const [tests, live] = [true, false].map((isTest) =>
      [...options.events.keys()].filter((event) => options.events[event]!.isTest === isTest),
    ) as [number[], number[]];
    const inTurn = (events: number[], clients: number) =>
      Array.from({ length: clients }, (_, index) => this.#run(events[index % events.length]!));
    this.#clients = [...inTurn(tests, TESTERS), ...inTurn(live, CLIENTS)];
  }

  get history(): History {
    return this.#calls.history;
  }

  /** Milliseconds since the start. */
  now(): number {
    return this.#calls.now();
  }

  /** The start in milliseconds of the epoch. */
  get startedAtEpochMs(): number {
    return this.#calls.startedAtEpochMs;
  }

  /** Adds what the suite does itself to the file of the round. */
  record(call: string, event: number, seats: CalledSeat[]): CallRecord {
    return this.#calls.record(call, event, seats);
  }

  /** When the first answer "00" for an event came from an API to a request that was sent at `since` or later. */
  servedAt(api: number, event: number, since: number): number | undefined {
    const attempts = this.#calls.history.requests
      .filter((request) => request.event === event)
      .flatMap((request) => request.attempts);
    const served = attempts.filter(
      (attempt) => attempt.api === api && attempt.sentAt >= since && labelOf(attempt.end) === '00',
    );
    return served.length > 0 ? Math.min(...served.map(({ endedAt }) => endedAt)) : undefined;
  }

  /** Whether a request for an event that was sent since then was answered "00". */
  isGranted(event: number, since: number): boolean {
    return this.#calls.history.requests.some(
      (request) =>
        request.event === event &&
        request.attempts.some(({ sentAt, end }) => sentAt >= since && labelOf(end) === '00'),
    );
  }

  /** Begins nothing new; resolves when everything that was begun has come to its end. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #run(event: number): Promise<void> {
    const { random } = this.#calls.options;
    while (!this.#isOver) {
      const call = random.chance(BASKET_PERCENT) ? fillBasket(this.#calls, event) : this.#begin(event);
      if (call.isKeyed) await this.#calls.persist(call);
      else await this.#calls.attempt(call);
      await this.#goOn(call.requests);
      if (random.chance(LAUNCH_PERCENT)) await this.#calls.lookUp(event, 'the launch', `${EVENTS}/launch`);
      await this.#rush(this.#held[event]!);
      if (random.chance(JOIN_PERCENT)) this.#waiting[event]!.push(...(await join(this.#calls, event)));
      if (random.chance(TEND_PERCENT)) await tend(this.#calls, this.#waiting[event]!);
      if (this.#calls.options.events[event]!.isTest && random.chance(RESET_PERCENT)) await this.#reset(event);
      await delay(random.between(0, THINK_MS));
    }
  }

  /** Changes what a call has got. */
  async #goOn(requests: RequestRecord[]): Promise<void> {
    const { random } = this.#calls.options;
    let [request] = requests as [RequestRecord];
    const passReference = passReferenceOf(request);
    if (!passReference) return;
    const { event } = request;
    if (random.chance(LOOKUP_PERCENT))
      await this.#calls.lookUp(event, passReference, `${EVENTS}/registrations/${passReference}`);
    if (request.isInBasket) await useBasket(this.#calls, requests);
    else if (request.isHeld && random.chance(CONFIRM_PERCENT)) await this.#change(request, 'confirm');
    else if (request.isHeld) this.#held[event]!.push({ request, since: this.#calls.now() });
    const isKept = !request.isHeld || isSaid(request.confirmations);
    if (isKept && random.chance(REPLACE_PERCENT)) request = await this.#replace(request);
    if (this.#mayGiveBack(request) && random.chance(CANCEL_PERCENT)) await this.#change(request, 'cancel');
  }

  #begin(event: number): Call {
    const { random } = this.#calls.options;
    const isKeyed = this.#calls.drawKeyed(event);
    const isHeld = random.chance(HOLD_PERCENT);
    const held = { isKeyed, ...(isHeld && { holdFor: HOLD_FOR }) };
    const want = (group: string | null = null) => this.#calls.want(event, { isKeyed, isHeld, group });
    if (!random.chance(BULK_PERCENT)) {
      const request = want();
      return {
        name: 'register',
        requests: [request],
        ...held,
        path: REGISTER,
        body: registrationOf(request),
      };
    }
    const mode = random.chance(GROUP_PERCENT) ? 'all' : 'each';
    const group = mode === 'all' ? this.#calls.nextId() : null;
    const size = random.between(BULK_SIZE.from, BULK_SIZE.to);
    const requests = Array.from({ length: size }, () => want(group));
    return {
      name: 'bulk',
      isWhole: mode === 'all',
      requests,
      ...held,
      path: `${REGISTER}/bulk`,
      body: { registrations: requests.map(registrationOf), mode },
    };
  }

  #mayGiveBack({ event, ticketId }: RequestRecord): boolean {
    return ticketId !== this.#calls.options.events[event]!.ticketIds.at(-1);
  }

  /** Confirms a hold by several callers at every API at the same time, and sometimes cancels it there as well. */
  async #rush(held: Held[]): Promise<void> {
    const { random, apiUrls } = this.#calls.options;
    const [oldest] = held;
    if (!oldest || this.#calls.now() - oldest.since < RUSH_AFTER_MS) return;
    held.shift();
    const { request } = oldest;
    const isCancelled = random.chance(RUSH_CANCEL_PERCENT);
    await Promise.all(
      [...apiUrls.keys()].flatMap((api) => [
        ...Array.from({ length: CALLERS_PER_API }, () => this.#change(request, 'confirm', api)),
        ...(isCancelled ? [this.#change(request, 'cancel', api)] : []),
      ]),
    );
  }

  #change(request: RequestRecord, name: 'confirm' | 'cancel', api?: number): Promise<string> {
    const path = `${EVENTS}/registrations/${passReferenceOf(request)}/${name}`;
    const ends = name === 'confirm' ? request.confirmations : request.cancellations;
    const init = { method: 'POST', headers: {} };
    const change = { name, seats: givenSeats([request]) };
    return this.#calls.repeat({ change, event: request.event, path, lists: [ends], init, api });
  }

  /** Gives the seat of a registration to another attendee, or tries to give it to two; sometimes it is cancelled meanwhile. */
  async #replace(old: RequestRecord): Promise<RequestRecord> {
    const { random } = this.#calls.options;
    const { event, ticketId } = old;
    const rivals = Array.from({ length: random.between(1, MOST_RIVALS) }, () =>
      this.#calls.want(event, { ticketId, replaces: old }),
    );
    const isCancelled = this.#mayGiveBack(old) && random.chance(RUSH_CANCEL_PERCENT);
    const path = `${EVENTS}/registrations/${passReferenceOf(old)}/attendee`;
    await Promise.all([
      ...rivals.map((request) =>
        this.#calls.persist({
          name: 'replace',
          requests: [request],
          isKeyed: false,
          path,
          body: namedAttendeeOf(request),
        }),
      ),
      isCancelled && this.#change(old, 'cancel'),
    ]);
    return rivals.find(passReferenceOf) ?? old;
  }

  /** Cancels whatever is registered for an event: all that was granted before, and perhaps some that was under way. */
  async #reset(event: number): Promise<void> {
    const { random, apiUrls, events } = this.#calls.options;
    const seats = events[event]!.ticketIds.map((ticket) => ({ ticket }));
    for (const giveUpAt = this.#calls.now() + PERSIST_MS; this.#calls.now() < giveUpAt;) {
      const sentAt = this.#calls.now();
      const api = random.between(0, apiUrls.length - 1);
      const record = this.#calls.record('reset', event, seats);
      const answer = await this.#calls.ask(api, record, '/api/v1/events/reset', {
        method: 'POST',
        headers: {},
      });
      const end = 'envelope' in answer ? endOf(answer) : answer;
      const isMore =
        'envelope' in answer && (answer.envelope.responseData as { more?: boolean } | null)?.more;
      const isFinal = end.kind === 'answered' && !isMore && !RETRY_CODES.has(end.code);
      if (isFinal) record.state = 'done';
      // It may go on where nobody waits for it.
      if (end.kind !== 'answered') this.#calls.maybeReset.add(event);
      for (const request of this.#calls.history.requests.filter((one) => one.event === event)) {
        const isThere = request.attempts.some(
          (attempt) => attempt.endedAt <= sentAt && labelOf(attempt.end) === '00',
        );
        request.cancellations.push(isFinal && isThere ? end : MAYBE);
      }
      if (isFinal) return;
      await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
    }
  }
}
