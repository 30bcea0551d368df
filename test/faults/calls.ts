import { setTimeout as delay } from 'node:timers/promises';
import type { Hold } from '@floodgate/contract';
import type { EventOnSale } from './events-on-sale.ts';
import {
  addressOf,
  labelOf,
  newHistory,
  newRequest,
  type Attempt,
  type AttemptEnd,
  type CalledSeat,
  type CallRecord,
  type CallWindow,
  type History,
  type RequestRecord,
} from './history.ts';
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

const KEYED_PERCENT = 50;
const REPLAY_PERCENT = 10;
const TIMEOUT_MS = 5_000;
export const BACKOFF_MS = { from: 10, to: 150 };
/** How long a partner goes on with a keyed request that it has no final answer to, after the round. */
export const PERSIST_MS = 30_000;
/** 90, 91, 41, 50: an answer that asks to try again. */
export const RETRY_CODES = new Set(['90', '91', '41', '50']);

export const EVENTS = '/api/v1/events';

/** What a partner asks for at once. */
export interface Call {
  name: 'register' | 'bulk' | 'hold' | 'replace';
  /** Whether it wants all seats or none. */
  isWhole?: boolean;
  /** One where it is neither a bulk call nor a basket. */
  requests: RequestRecord[];
  isKeyed: boolean;
  path: string;
  holdFor?: string;
  body: object;
}

/** A change that is repeated until it is answered. */
export interface Repeated {
  /** As the file of the round has it. */
  change: { name: string; id?: string; seats: CalledSeat[] };
  event: number;
  path: string;
  /** Where the ends of its attempts belong. */
  lists: AttemptEnd[][];
  init: Init;
  /** By default any. */
  api?: number | undefined;
}

/** The calls of partners to the APIs, with a record of each. */
export class Calls {
  readonly history: History = newHistory();
  readonly options: PartnersOptions;
  readonly #startedAt = performance.now();
  /** The start in milliseconds of the epoch. */
  readonly startedAtEpochMs = performance.timeOrigin + this.#startedAt;
  /** Events of which a reset may still be under way. */
  readonly maybeReset = new Set<number>();
  #count = 0;

  constructor(options: PartnersOptions) {
    this.options = options;
  }

  /** Returns a name that no other request has. */
  nextId(): string {
    return `${this.options.roundId}-${this.#count++}`;
  }

  /** Milliseconds since the start. */
  now(): number {
    return performance.now() - this.#startedAt;
  }

  /** Returns the record of a call that is made now, for the file of the round. */
  record(
    call: string,
    event: number,
    seats: CalledSeat[],
    more: { id?: string; all?: boolean } = {},
  ): CallRecord {
    const record = { call, ...more, event, start: this.now(), end: null, answer: null, seats };
    this.history.calls.push(record);
    return record;
  }

  /** Not of a test event. A reset forgets keys: the same key once more is another registration. */
  drawKeyed(event: number): boolean {
    return !this.options.events[event]!.isTest && this.options.random.chance(KEYED_PERCENT);
  }

  want(event: number, differing: Partial<RequestRecord>): RequestRecord {
    const { random, events } = this.options;
    const request = newRequest({
      id: this.nextId(),
      event,
      // Of one of the tickets nobody gives a seat back, so that it stays sold out.
      ticketId: random.pick(events[event]!.ticketIds.slice(0, differing.isHeld ? -1 : undefined)),
      cancellations: this.maybeReset.has(event) ? [MAYBE] : [],
      ...differing,
    });
    this.history.requests.push(request);
    return request;
  }

  /** Repeats a call until it has a final answer, and now and then once more after that. */
  async persist(call: Call): Promise<void> {
    const { random } = this.options;
    for (const giveUpAt = this.now() + PERSIST_MS; this.now() < giveUpAt;) {
      const end = await this.attempt(call);
      if (end.kind === 'answered' && !RETRY_CODES.has(end.code)) {
        if (random.chance(REPLAY_PERCENT)) await this.attempt(call);
        return;
      }
      await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
    }
  }

  /** Resolves to how the attempt ended for the first of the call's registrations. */
  async attempt(call: Call): Promise<AttemptEnd> {
    const { requests, isKeyed, path, holdFor, body } = call;
    const [first] = requests as [RequestRecord];
    const api = this.nextApi(first.attempts.at(-1));
    const record = this.record(call.name, first.event, requests.map(wantedSeat), {
      all: call.isWhole ?? false,
    });
    const sentAt = this.now();
    const ends = await this.send(api, record, path, {
      ...posted(body),
      headers: {
        ...posted(body).headers,
        ...(isKeyed && { 'idempotency-key': first.id }),
        ...(holdFor && { 'hold-for': holdFor }),
      },
    });
    const endAt = (index: number) => ends[index] ?? ends[0]!;
    requests.forEach(({ attempts }, index) => {
      attempts.push({ api, sentAt, endedAt: this.now(), end: endAt(index) });
      noteEnd(record.seats[index]!, endAt(index));
    });
    return endAt(0);
  }

  /** Repeats a change until there is a final answer, and now and then once more after that. Resolves to how it ended. */
  async repeat({ change, event, path, lists, init, api: firstApi }: Repeated): Promise<string> {
    const { random, apiUrls } = this.options;
    let api = firstApi ?? random.between(0, apiUrls.length - 1);
    let label = '';
    for (
      const giveUpAt = this.now() + PERSIST_MS;
      this.now() < giveUpAt;
      api = random.between(0, apiUrls.length - 1)
    ) {
      const { name, seats, ...more } = change;
      const record = this.record(name, event, seats, more);
      const [end] = (await this.send(api, record, path, init)) as [AttemptEnd];
      for (const ends of lists) ends.push(end);
      label = labelOf(end);
      const isFinal = end.kind === 'answered' && !RETRY_CODES.has(end.code);
      if (isFinal && !random.chance(REPLAY_PERCENT)) break;
      if (!isFinal) await delay(random.between(BACKOFF_MS.from, BACKOFF_MS.to));
    }
    return label;
  }

  nextApi(last: Attempt | undefined): number {
    const { apiUrls, random } = this.options;
    return last ? (last.api + 1) % apiUrls.length : random.between(0, apiUrls.length - 1);
  }

  async lookUp(event: number, what: string, path: string): Promise<void> {
    const [end] = await this.send(this.nextApi(undefined), this.record('look up', event, []), path, {
      headers: {},
    });
    this.history.lookups.push({ what, end: end! });
  }

  async send(api: number, record: CallRecord, path: string, init: Init): Promise<AttemptEnd[]> {
    const answer = await this.ask(api, record, path, init);
    if (!('envelope' in answer)) return [answer];
    const { status, envelope } = answer;
    const { responseCode: code, responseData: data } = envelope;
    const { holdReference, seats } = (data ?? {}) as Partial<Hold>;
    if (Array.isArray(seats))
      return seats.map(({ passReference }) => ({ ...endOf(answer), code, passReference, holdReference }));
    // A bulk call answers with an envelope for each, unless the whole of it is refused.
    const envelopes = Array.isArray(data) ? (data as Envelope[]) : [envelope];
    return envelopes.map((one) => endOf({ ...answer, status, envelope: one }));
  }

  async ask(
    api: number,
    record: CallRecord,
    path: string,
    { headers, ...init }: Init,
  ): Promise<Answer | AttemptEnd> {
    const { apiUrls, events } = this.options;
    const { fixture } = events[record.event]!;
    const during = () => ({ api, from: record.start, to: this.now() });
    const access = { 'x-secret-key': fixture.secretKey, 'x-event-ref': fixture.eventRef };
    try {
      const response = await fetch(`${apiUrls[api]}${path}`, {
        ...init,
        headers: { ...access, ...headers },
        signal: runningTime.timeout(TIMEOUT_MS),
      });
      const envelope = (await response.json()) as Envelope;
      record.end = this.now();
      record.answer = envelope.responseCode;
      return { status: response.status, envelope, during: during() };
    } catch (error) {
      // Not even JSON: an answer that no partner was promised.
      if (error instanceof SyntaxError)
        return { kind: 'answered', status: 0, code: 'none', passReference: null, during: during() };
      const kind = failureOf(error as Error);
      if (kind === 'refused') Object.assign(record, { end: this.now(), answer: kind });
      return { kind, during: during() };
    }
  }
}

export const posted = (body: object): Init => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

export const attendeeOf = (id: string) => ({ fullName: nameOf(id), emailAddress: addressOf(id) });
export const namedAttendeeOf = ({ id }: RequestRecord) => ({ ...attendeeOf(id), extraData1: id });
export const registrationOf = (request: RequestRecord) => ({
  ...namedAttendeeOf(request),
  organizedEventTicketID: request.ticketId,
});

export interface Init {
  method?: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Answer {
  status: number;
  envelope: Envelope;
  during: CallWindow;
}

export interface Envelope {
  responseCode: string;
  responseData: unknown;
}

/** Said of what a reset may have cancelled. */
export const MAYBE: AttemptEnd = { kind: 'answered', status: 0, code: '91', passReference: null };

export function endOf({ status, envelope, during }: Answer): AttemptEnd {
  const { responseCode: code, responseData: data } = envelope;
  return { kind: 'answered', status, code, passReference: typeof data === 'string' ? data : null, during };
}

/** A seat as the file of the round has it. */
function wantedSeat({ id, ticketId, replaces }: RequestRecord): CalledSeat {
  const old = replaces ? passReferenceOf(replaces) : undefined;
  return { ticket: ticketId, id, ...(old && { old }) };
}

/** The seats that a partner was given. */
export const givenSeats = (requests: readonly RequestRecord[]): CalledSeat[] =>
  requests.map((request) => ({ ticket: request.ticketId, pass: passReferenceOf(request)! }));

function noteEnd(seat: CalledSeat, end: AttemptEnd): void {
  if (end.kind !== 'answered') return;
  seat.answer = end.code;
  if (end.code === '00') seat.pass = end.passReference;
}

export const nameOf = (id: string) => `Attendee ${id}`;

function failureOf(error: Error): 'timed-out' | 'refused' | 'cut' {
  if (error.name === 'TimeoutError') return 'timed-out';
  const { code } = (error.cause ?? {}) as { code?: string };
  return code === 'ECONNREFUSED' ? 'refused' : 'cut';
}

/** The pass reference that a request was given. */
export const passReferenceOf = ({ attempts }: RequestRecord) =>
  attempts
    .map(({ end }) => (labelOf(end) === '00' && 'passReference' in end ? end.passReference : null))
    .find(Boolean);
