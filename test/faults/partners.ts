import { setTimeout as delay } from 'node:timers/promises';
import type { Hold } from '@floodgate/contract';
import type { EventOnSale } from './events-on-sale.ts';
import {
  addressOf,
  isSaid,
  labelOf,
  newRequest,
  seatId,
  type Attempt,
  type AttemptEnd,
  type History,
  type RequestRecord,
} from './history.ts';
import { keepPrivate } from '../harness/private-data.ts';
import type { Random } from './random.ts';
import { runningTime } from './running-time.ts';

export interface PartnersOptions {
  /** Where the APIs are; a partner that fails at one goes to the next, as a load balancer would have it. */
  apiUrls: readonly string[];
  /** Each has clients of its own, so that one which is not answered keeps nobody from the others. */
  events: readonly EventOnSale[];
  /** Distinguishes the requests of this round from all others. */
  roundId: string;
  random: Random;
}

const CLIENTS = 16;
/** Of test events. */
const TESTERS = 4;
const RESET_PERCENT = 4;
const KEYED_PERCENT = 50;
const REPLAY_PERCENT = 10;
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
const BASKET_SEATS = 4;
/** The others are confirmed, and some of them extended before. */
const ABANDON_PERCENT = 20;
const EXTEND_PERCENT = 20;
const RELEASE_PERCENT = 30;
const CONTACT_PERCENT = 40;
const REPLACE_PERCENT = 15;
const MOST_RIVALS = 2;
/** In seconds. Longer than a round: the suite itself ends holds. */
const HOLD_FOR = '1800';
const BASKET_HOLD_FOR = '300';
const TIMEOUT_MS = 5_000;
const BACKOFF_MS = { from: 10, to: 150 };
const THINK_MS = 4;
/** How long a partner goes on with a keyed request that it has no final answer to, after the round. */
const PERSIST_MS = 30_000;
/** 90, 91, 41, 50: an answer that asks to try again. */
const RETRY_CODES = new Set(['90', '91', '41', '50']);

const EVENTS = '/api/v1/events';
const REGISTER = `${EVENTS}/register`;

/** What a partner asks for at once. */
interface Call {
  /** One where it is neither a bulk call nor a basket. */
  requests: RequestRecord[];
  isKeyed: boolean;
  path: string;
  holdFor?: string;
  body: object;
}

/** A seat that is held since then. */
interface Held {
  request: RequestRecord;
  since: number;
}

/** Several clients of a partner's platform, each busy with one call at a time, that write everything down. */
export class Partners {
  readonly history: History = { requests: [], lookups: [] };
  readonly #options: PartnersOptions;
  readonly #startedAt = performance.now();
  readonly #clients: Promise<void>[];
  /** Events of which a reset may still be under way. */
  readonly #maybeReset = new Set<number>();
  /** What is left for a rush, by event, the oldest first. */
  readonly #held: Held[][];
  #isOver = false;
  #count = 0;

  constructor(options: PartnersOptions) {
    this.#options = options;
    this.#held = options.events.map(() => []);
    // What all their names begin with: to look for each by itself would take the suite longer than its partners wait.
    keepPrivate([nameOf(options.roundId)]);
    const [tests, live] = [true, false].map((isTest) =>
      [...options.events.keys()].filter((event) => options.events[event]!.isTest === isTest),
    ) as [number[], number[]];
    const inTurn = (events: number[], clients: number) =>
      Array.from({ length: clients }, (_, index) => this.#run(events[index % events.length]!));
    this.#clients = [...inTurn(tests, TESTERS), ...inTurn(live, CLIENTS)];
  }

  /** Milliseconds since the start. */
  now(): number {
    return performance.now() - this.#startedAt;
  }

  /** When the first answer "00" for an event came from an API to a request that was sent at `since` or later. */
  servedAt(api: number, event: number, since: number): number | undefined {
    const attempts = this.history.requests
      .filter((request) => request.event === event)
      .flatMap((request) => request.attempts);
    const served = attempts.filter(
      (attempt) => attempt.api === api && attempt.sentAt >= since && labelOf(attempt.end) === '00',
    );
    return served.length > 0 ? Math.min(...served.map(({ endedAt }) => endedAt)) : undefined;
  }

  /** Whether a request for an event that was sent since then was answered "00". */
  isGranted(event: number, since: number): boolean {
    return this.history.requests.some(
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
    const { random } = this.#options;
    while (!this.#isOver) {
      const call = random.chance(BASKET_PERCENT) ? this.#fillBasket(event) : this.#begin(event);
      if (call.isKeyed) await this.#persist(call);
      else await this.#attempt(call);
      await this.#goOn(call.requests);
      if (random.chance(LAUNCH_PERCENT)) await this.#lookUp(event, 'the launch', `${EVENTS}/launch`);
      await this.#rush(this.#held[event]!);
      if (this.#options.events[event]!.isTest && random.chance(RESET_PERCENT)) await this.#reset(event);
      await delay(random.between(0, THINK_MS));
    }
  }

  /** Changes what a call has got. */
  async #goOn(requests: RequestRecord[]): Promise<void> {
    const { random } = this.#options;
    let [request] = requests as [RequestRecord];
    const passReference = passReferenceOf(request);
    if (!passReference) return;
    const { event } = request;
    if (random.chance(LOOKUP_PERCENT))
      await this.#lookUp(event, passReference, `${EVENTS}/registrations/${passReference}`);
    if (request.isInBasket) await this.#useBasket(requests);
    else if (request.isHeld && random.chance(CONFIRM_PERCENT)) await this.#change(request, 'confirm');
    else if (request.isHeld) this.#held[event]!.push({ request, since: this.now() });
    const isKept = !request.isHeld || isSaid(request.confirmations);
    if (isKept && random.chance(REPLACE_PERCENT)) request = await this.#replace(request);
    if (this.#mayGiveBack(request) && random.chance(CANCEL_PERCENT)) await this.#change(request, 'cancel');
  }

  #begin(event: number): Call {
    const { random } = this.#options;
    const isKeyed = this.#drawKeyed(event);
    const isHeld = random.chance(HOLD_PERCENT);
    const held = { isKeyed, ...(isHeld && { holdFor: HOLD_FOR }) };
    const want = (group: string | null = null) => this.#want(event, { isKeyed, isHeld, group });
    if (!random.chance(BULK_PERCENT)) {
      const request = want();
      return { requests: [request], ...held, path: REGISTER, body: registrationOf(request) };
    }
    const mode = random.chance(GROUP_PERCENT) ? 'all' : 'each';
    const group = mode === 'all' ? `${this.#options.roundId}-${this.#count}` : null;
    const size = random.between(BULK_SIZE.from, BULK_SIZE.to);
    const requests = Array.from({ length: size }, () => want(group));
    return {
      requests,
      ...held,
      path: `${REGISTER}/bulk`,
      body: { registrations: requests.map(registrationOf), mode },
    };
  }

  /** Not of a test event. A reset forgets keys: the same key once more is another registration. */
  #drawKeyed(event: number): boolean {
    return !this.#options.events[event]!.isTest && this.#options.random.chance(KEYED_PERCENT);
  }

  /** Holds some seats of one or two tickets. */
  #fillBasket(event: number): Call {
    const { random, roundId, events } = this.#options;
    const isKeyed = this.#drawKeyed(event);
    const group = `${roundId}-${this.#count++}`;
    const size = random.between(1, BASKET_SEATS);
    const ofFirst = random.between(1, size);
    const ticketIds = random.shuffle(events[event]!.ticketIds.slice(0, -1));
    const requests = Array.from({ length: size }, (_, index) =>
      this.#want(event, {
        id: seatId(group, index),
        ticketId: ticketIds[index < ofFirst ? 0 : 1]!,
        isKeyed,
        isHeld: true,
        isInBasket: true,
        group,
      }),
    );
    const tickets = [ofFirst, size - ofFirst].map((seats, index) => ({
      organizedEventTicketID: ticketIds[index],
      seats,
    }));
    const body = { tickets: tickets.filter(({ seats }) => seats > 0), partnerReference: group };
    return { requests, isKeyed, path: `${EVENTS}/holds`, holdFor: BASKET_HOLD_FOR, body };
  }

  #want(event: number, differing: Partial<RequestRecord>): RequestRecord {
    const { random, roundId, events } = this.#options;
    const request = newRequest({
      id: `${roundId}-${this.#count++}`,
      event,
      // Of one of the tickets nobody gives a seat back, so that it stays sold out.
      ticketId: random.pick(events[event]!.ticketIds.slice(0, differing.isHeld ? -1 : undefined)),
      cancellations: this.#maybeReset.has(event) ? [MAYBE] : [],
      ...differing,
    });
    this.history.requests.push(request);
    return request;
  }

  /** Repeats a call until it has a final answer, and now and then once more after that. */
  async #persist(call: Call): Promise<void> {
    const { random } = this.#options;
    for (const giveUpAt = this.now() + PERSIST_MS; this.now() < giveUpAt;) {
      const end = await this.#attempt(call);
      if (end.kind === 'answered' && !RETRY_CODES.has(end.code)) {
        if (random.chance(REPLAY_PERCENT)) await this.#attempt(call);
        return;
      }
      await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
    }
  }

  /** Resolves to how the attempt ended for the first of the call's registrations. */
  async #attempt({ requests, isKeyed, path, holdFor, body }: Call): Promise<AttemptEnd> {
    const [first] = requests as [RequestRecord];
    const api = this.#nextApi(first.attempts.at(-1));
    const sentAt = this.now();
    const ends = await this.#send(api, first.event, path, {
      ...posted(body),
      headers: {
        ...posted(body).headers,
        ...(isKeyed && { 'idempotency-key': first.id }),
        ...(holdFor && { 'hold-for': holdFor }),
      },
    });
    const endAt = (index: number) => ends[index] ?? ends[0]!;
    requests.forEach(({ attempts }, index) =>
      attempts.push({ api, sentAt, endedAt: this.now(), end: endAt(index) }),
    );
    return endAt(0);
  }

  #mayGiveBack({ event, ticketId }: RequestRecord): boolean {
    return ticketId !== this.#options.events[event]!.ticketIds.at(-1);
  }

  /** Confirms a hold by several callers at every API at the same time, and sometimes cancels it there as well. */
  async #rush(held: Held[]): Promise<void> {
    const { random, apiUrls } = this.#options;
    const [oldest] = held;
    if (!oldest || this.now() - oldest.since < RUSH_AFTER_MS) return;
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
    return this.#repeat(request.event, path, [ends], { method: 'POST', headers: {} }, api);
  }

  /** Abandons a basket, or releases some seats and confirms the others; sometimes at every API, where all are released as well. */
  async #useBasket(seats: RequestRecord[]): Promise<void> {
    const { random, apiUrls } = this.#options;
    const [{ event, group, attempts }] = seats as [RequestRecord];
    const [holdReference] = attempts.flatMap(({ end }) => ('holdReference' in end ? end.holdReference : []));
    const change = (
      name: 'confirm' | 'extend' | 'release',
      changed: RequestRecord[],
      body: object,
      api?: number,
    ) => {
      const lists = changed.map((seat) => seat[ENDS_OF[name]]);
      return this.#repeat(event, `${EVENTS}/holds/${holdReference}/${name}`, lists, posted(body), api);
    };
    const release = (some: RequestRecord[]) =>
      change('release', some, { passReferences: some.map(passReferenceOf) });
    if (random.chance(EXTEND_PERCENT)) await change('extend', seats, {});
    if (random.chance(ABANDON_PERCENT)) return;
    const released = random.chance(RELEASE_PERCENT) ? seats.filter(() => random.chance(50)) : [];
    if (released.length > 0 && (await release(released)) !== '00') return;
    const kept = seats.filter((seat) => !released.includes(seat));
    if (kept.length === 0) return;
    // A reset may go on, and leave fewer seats than attendees.
    const hasContact = this.#options.events[event]!.isTest || random.chance(CONTACT_PERCENT);
    const body = hasContact ? { contact: attendeeOf(group!) } : { attendees: kept.map(namedAttendeeOf) };
    if (random.chance(RUSH_CANCEL_PERCENT))
      await Promise.all(
        [...apiUrls.keys()].flatMap((api) => [
          change('confirm', kept, body, api),
          change('release', kept, {}, api),
        ]),
      );
    else await change('confirm', kept, body);
    // Too late for those that are kept, also beside others that were released.
    if (random.chance(RELEASE_PERCENT))
      await change('release', kept, { passReferences: seats.map(passReferenceOf) });
  }

  /** Gives the seat of a registration to another attendee, or tries to give it to two; sometimes it is cancelled meanwhile. */
  async #replace(old: RequestRecord): Promise<RequestRecord> {
    const { random } = this.#options;
    const { event, ticketId } = old;
    const rivals = Array.from({ length: random.between(1, MOST_RIVALS) }, () =>
      this.#want(event, { ticketId, replaces: old }),
    );
    const isCancelled = this.#mayGiveBack(old) && random.chance(RUSH_CANCEL_PERCENT);
    const path = `${EVENTS}/registrations/${passReferenceOf(old)}/attendee`;
    await Promise.all([
      ...rivals.map((request) =>
        this.#persist({ requests: [request], isKeyed: false, path, body: namedAttendeeOf(request) }),
      ),
      isCancelled && this.#change(old, 'cancel'),
    ]);
    return rivals.find(passReferenceOf) ?? old;
  }

  /** Repeats a change until there is a final answer, and now and then once more after that. Resolves to how it ended. */
  async #repeat(
    event: number,
    path: string,
    lists: AttemptEnd[][],
    init: Init,
    firstApi?: number,
  ): Promise<string> {
    const { random, apiUrls } = this.#options;
    let api = firstApi ?? random.between(0, apiUrls.length - 1);
    let label = '';
    for (
      const giveUpAt = this.now() + PERSIST_MS;
      this.now() < giveUpAt;
      api = random.between(0, apiUrls.length - 1)
    ) {
      const [end] = (await this.#send(api, event, path, init)) as [AttemptEnd];
      for (const ends of lists) ends.push(end);
      label = labelOf(end);
      const isFinal = end.kind === 'answered' && !RETRY_CODES.has(end.code);
      if (isFinal && !random.chance(REPLAY_PERCENT)) break;
      if (!isFinal) await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
    }
    return label;
  }

  /** Cancels whatever is registered for an event: all that was granted before, and perhaps some that was under way. */
  async #reset(event: number): Promise<void> {
    const { random, apiUrls } = this.#options;
    for (const giveUpAt = this.now() + PERSIST_MS; this.now() < giveUpAt;) {
      const sentAt = this.now();
      const api = random.between(0, apiUrls.length - 1);
      const answer = await this.#ask(api, event, '/api/v1/events/reset', { method: 'POST', headers: {} });
      const end = 'envelope' in answer ? endOf(answer) : answer;
      const isMore =
        'envelope' in answer && (answer.envelope.responseData as { more?: boolean } | null)?.more;
      const isFinal = end.kind === 'answered' && !isMore && !RETRY_CODES.has(end.code);
      // It may go on where nobody waits for it.
      if (end.kind !== 'answered') this.#maybeReset.add(event);
      for (const request of this.history.requests.filter((one) => one.event === event)) {
        const isThere = request.attempts.some(
          (attempt) => attempt.endedAt <= sentAt && labelOf(attempt.end) === '00',
        );
        request.cancellations.push(isFinal && isThere ? end : MAYBE);
      }
      if (isFinal) return;
      await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
    }
  }

  #nextApi(last: Attempt | undefined): number {
    const { apiUrls, random } = this.#options;
    return last ? (last.api + 1) % apiUrls.length : random.between(0, apiUrls.length - 1);
  }

  async #lookUp(event: number, what: string, path: string): Promise<void> {
    const [end] = await this.#send(this.#nextApi(undefined), event, path, { headers: {} });
    this.history.lookups.push({ what, end: end! });
  }

  async #send(api: number, event: number, path: string, init: Init): Promise<AttemptEnd[]> {
    const answer = await this.#ask(api, event, path, init);
    if (!('envelope' in answer)) return [answer];
    const { status, envelope } = answer;
    const { responseCode: code, responseData: data } = envelope;
    const { holdReference, seats } = (data ?? {}) as Partial<Hold>;
    if (seats)
      return seats.map(({ passReference }) => ({ ...endOf(answer), code, passReference, holdReference }));
    // A bulk call answers with an envelope for each, unless the whole of it is refused.
    const envelopes = Array.isArray(data) ? (data as Envelope[]) : [envelope];
    return envelopes.map((one) => endOf({ status, envelope: one }));
  }

  async #ask(
    api: number,
    event: number,
    path: string,
    { headers, ...init }: Init,
  ): Promise<Answer | AttemptEnd> {
    const { apiUrls, events } = this.#options;
    const { fixture } = events[event]!;
    const access = { 'x-secret-key': fixture.secretKey, 'x-event-ref': fixture.eventRef };
    try {
      const response = await fetch(`${apiUrls[api]}${path}`, {
        ...init,
        headers: { ...access, ...headers },
        signal: runningTime.timeout(TIMEOUT_MS),
      });
      return { status: response.status, envelope: (await response.json()) as Envelope };
    } catch (error) {
      // Not even JSON: an answer that no partner was promised.
      if (error instanceof SyntaxError)
        return { kind: 'answered', status: 0, code: 'none', passReference: null };
      return { kind: failureOf(error as Error) };
    }
  }
}

const ENDS_OF = { confirm: 'confirmations', extend: 'extensions', release: 'releases' } as const;

const posted = (body: object): Init => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const attendeeOf = (id: string) => ({ fullName: nameOf(id), emailAddress: addressOf(id) });
const namedAttendeeOf = ({ id }: RequestRecord) => ({ ...attendeeOf(id), extraData1: id });
const registrationOf = (request: RequestRecord) => ({
  ...namedAttendeeOf(request),
  organizedEventTicketID: request.ticketId,
});

interface Init {
  method?: string;
  headers: Record<string, string>;
  body?: string;
}

interface Answer {
  status: number;
  envelope: Envelope;
}

interface Envelope {
  responseCode: string;
  responseData: unknown;
}

/** Said of what a reset may have cancelled. */
const MAYBE: AttemptEnd = { kind: 'answered', status: 0, code: '91', passReference: null };

function endOf({ status, envelope: { responseCode: code, responseData: data } }: Answer): AttemptEnd {
  return { kind: 'answered', status, code, passReference: typeof data === 'string' ? data : null };
}

const nameOf = (id: string) => `Attendee ${id}`;

function failureOf(error: Error): 'timed-out' | 'refused' | 'cut' {
  if (error.name === 'TimeoutError') return 'timed-out';
  const { code } = (error.cause ?? {}) as { code?: string };
  return code === 'ECONNREFUSED' ? 'refused' : 'cut';
}

/** The pass reference that a request was given. */
const passReferenceOf = ({ attempts }: RequestRecord) =>
  attempts
    .map(({ end }) => (labelOf(end) === '00' && 'passReference' in end ? end.passReference : null))
    .find(Boolean);
