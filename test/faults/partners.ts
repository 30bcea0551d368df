import { setTimeout as delay } from 'node:timers/promises';
import type { EventOnSale } from './events-on-sale.ts';
import { labelOf, type Attempt, type AttemptEnd, type History, type RequestRecord } from './history.ts';
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
const TIMEOUT_MS = 5_000;
const BACKOFF_MS = { from: 10, to: 150 };
const THINK_MS = 4;
/** How long a partner goes on with a keyed request that it has no final answer to, after the round. */
const PERSIST_MS = 30_000;
/** 90, 91, 41, 50: an answer that asks to try again. */
const RETRY_CODES = new Set(['90', '91', '41', '50']);

const REGISTER = '/api/v1/events/register';

/** What a partner asks for at once. */
interface Call {
  /** One where it is no bulk call. */
  requests: RequestRecord[];
  isKeyed: boolean;
  isHeld: boolean;
  /** Of a bulk call. */
  mode: 'each' | 'all' | null;
}

/** A seat that is held since then. */
interface Held {
  request: RequestRecord;
  passReference: string;
  since: number;
}

/** The e-mail address of whoever a request registers. */
export const addressOf = (requestId: string) => `${requestId}@example.com`;

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
      const call = this.#begin(event);
      if (call.isKeyed) await this.#persist(call);
      else await this.#attempt(call);
      const [request] = call.requests as [RequestRecord];
      const passReference = request.attempts.map(({ end }) => passReferenceOf(end)).find(Boolean);
      if (passReference && random.chance(LOOKUP_PERCENT))
        await this.#lookUp(event, passReference, `/api/v1/events/registrations/${passReference}`);
      if (random.chance(LAUNCH_PERCENT)) await this.#lookUp(event, 'the launch', '/api/v1/events/launch');
      if (passReference && request.isHeld) {
        if (random.chance(CONFIRM_PERCENT))
          await this.#change(request, passReference, 'confirm', request.confirmations);
        else this.#held[event]!.push({ request, passReference, since: this.now() });
      }
      await this.#rush(this.#held[event]!);
      if (passReference && this.#mayGiveBack(request) && random.chance(CANCEL_PERCENT))
        await this.#change(request, passReference, 'cancel', request.cancellations);
      if (this.#options.events[event]!.isTest && random.chance(RESET_PERCENT)) await this.#reset(event);
      await delay(random.between(0, THINK_MS));
    }
  }

  #begin(event: number): Call {
    const { random } = this.#options;
    // A reset forgets keys: the same key once more is another registration.
    const isKeyed = !this.#options.events[event]!.isTest && random.chance(KEYED_PERCENT);
    const isHeld = random.chance(HOLD_PERCENT);
    const want = (group: string | null = null) => this.#want(event, isKeyed, isHeld, group);
    if (!random.chance(BULK_PERCENT)) return { requests: [want()], isKeyed, isHeld, mode: null };
    const mode = random.chance(GROUP_PERCENT) ? 'all' : 'each';
    const group = mode === 'all' ? `${this.#options.roundId}-${this.#count}` : null;
    const size = random.between(BULK_SIZE.from, BULK_SIZE.to);
    return { requests: Array.from({ length: size }, () => want(group)), isKeyed, isHeld, mode };
  }

  #want(event: number, isKeyed: boolean, isHeld: boolean, group: string | null): RequestRecord {
    const { random, roundId, events } = this.#options;
    const request: RequestRecord = {
      id: `${roundId}-${this.#count++}`,
      event,
      // Of one of the tickets nobody gives a seat back, so that it stays sold out.
      ticketId: random.pick(events[event]!.ticketIds.slice(0, isHeld ? -1 : undefined)),
      isHeld,
      confirmations: [],
      isKeyed,
      group,
      attempts: [],
      cancellations: this.#maybeReset.has(event) ? [MAYBE] : [],
    };
    this.history.requests.push(request);
    return request;
  }

  /** Repeats a keyed call until it has a final answer, and now and then once more after that. */
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
  async #attempt({ requests, isKeyed, isHeld, mode }: Call): Promise<AttemptEnd> {
    const [first] = requests as [RequestRecord];
    const bodies = requests.map(({ id, ticketId }) => ({
      fullName: nameOf(id),
      emailAddress: addressOf(id),
      organizedEventTicketID: ticketId,
      extraData1: id,
    }));
    const api = this.#nextApi(first.attempts.at(-1));
    const sentAt = this.now();
    const path = mode === null ? REGISTER : `${REGISTER}/bulk`;
    const ends = await this.#send(api, first.event, path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(isKeyed && { 'idempotency-key': first.id }),
        ...(isHeld && { 'hold-for': '1800' }),
      },
      body: JSON.stringify(mode === null ? bodies[0] : { registrations: bodies, mode }),
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
    const { request, passReference } = oldest;
    const isCancelled = random.chance(RUSH_CANCEL_PERCENT);
    await Promise.all(
      [...apiUrls.keys()].flatMap((api) => [
        ...Array.from({ length: CALLERS_PER_API }, () =>
          this.#change(request, passReference, 'confirm', request.confirmations, api),
        ),
        ...(isCancelled ? [this.#change(request, passReference, 'cancel', request.cancellations, api)] : []),
      ]),
    );
  }

  /** Repeats it until there is a final answer, and now and then once more after that. */
  async #change(
    request: RequestRecord,
    passReference: string,
    name: 'confirm' | 'cancel',
    ends: AttemptEnd[],
    firstApi?: number,
  ): Promise<void> {
    const { random, apiUrls } = this.#options;
    const path = `/api/v1/events/registrations/${passReference}/${name}`;
    let api = firstApi ?? random.between(0, apiUrls.length - 1);
    for (
      const giveUpAt = this.now() + PERSIST_MS;
      this.now() < giveUpAt;
      api = random.between(0, apiUrls.length - 1)
    ) {
      const [end] = await this.#send(api, request.event, path, { method: 'POST', headers: {} });
      ends.push(end!);
      const isFinal = end!.kind === 'answered' && !RETRY_CODES.has(end!.code);
      if (isFinal && !random.chance(REPLAY_PERCENT)) return;
      if (!isFinal) await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
    }
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
    // A bulk call answers with an envelope for each, unless the whole of it is refused.
    const envelopes = Array.isArray(envelope.responseData)
      ? (envelope.responseData as Envelope[])
      : [envelope];
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

const passReferenceOf = (end: AttemptEnd) =>
  labelOf(end) === '00' && 'passReference' in end ? end.passReference : null;
