import { setTimeout as delay } from 'node:timers/promises';
import {
  createClient,
  type FloodgateClient,
  type RegisterResult,
  type RegistrationRequest,
} from '@floodgate/client';
import { reconcile } from '@floodgate/registrations';
import { keepPrivate } from '../harness/private-data.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { availableFaults, forgetFile, type CampaignOptions } from './campaign.ts';
import { checkHistory, type Violation } from './check-history.ts';
import { deploy, type Deployment } from './deployment.ts';
import { createEvents, type EventOnSale } from './events-on-sale.ts';
import type { Fault } from './fault.ts';
import { checkFile, readFirstTickets, writeHistory } from './history-file.ts';
import { newHistory, newRequest, type CallRecord, type History, type RequestRecord } from './history.ts';
import { Random } from './random.ts';
import { isFinalized, readNow, readStored } from './read-stored.ts';
import { HISTORIES } from './run-round.ts';

export type ClientCampaignOptions = Pick<
  CampaignOptions,
  'seed' | 'onlyFault' | 'hold' | 'onMissing' | 'directory'
> & {
  registrations: number;
  /** Told of every fault that has struck, and how many registrations were answered by then. */
  onStruck: (fault: Fault, answered: number) => void;
};

export interface ClientCampaignResult {
  faults: string[];
  /** Answered "00". */
  granted: number;
  /** Answered "32". */
  soldOut: number;
  /** How many registrations were not answered when each fault struck. */
  openAt: Record<string, number>;
  /** The file with its history. */
  file: string;
  /** How often the client did not know in time, and was asked again. */
  unknown: number;
  /** As Postgres has them. */
  stored: number;
  seconds: number;
  violations: Violation[];
}

/** Of each client, registrations that have been asked for and are not answered. */
const OUTSTANDING = 1_000;
const KEYED_PERCENT = 5;
const GROUP_PERCENT = 1;
const GROUP_SIZE = { from: 2, to: 20 };
/** The others are sold out soon. */
const ROOMY_PERCENT = 98;
const RECOVER_WITHIN_MS = 60_000;
const STEP_WITHIN_MS = 120_000;
/** What the client asked and was not answered: so many are named. */
const NAMED = 3;

/**
 * Registers through the client, one for each API, while one fault after the other strikes, and holds what it
 * answered against what is stored. Each fault gets its share of the registrations, so that all of them strike
 * under load.
 */
export async function runClientCampaign(options: ClientCampaignOptions): Promise<ClientCampaignResult> {
  const random = new Random(options.seed);
  const faults = random.shuffle(
    availableFaults({ ...options, isLong: false, isOnCitus: false }).filter(
      ({ leavesRemains, deployments }) => !leavesRemains && (deployments?.includes('redis') ?? true),
    ),
  );
  await using deployment = await deploy('redis');
  const events = await createEvents(deployment, random);
  const first = await readFirstTickets(deployment, events);
  const platform = new Platform(deployment, events[0]!, options, faults.length);
  const startedAt = performance.now();
  const problems: Violation[] = [];
  const openAt: Record<string, number> = {};
  const attempt = (what: string, act: () => Promise<unknown>) =>
    Promise.race([act(), rejectLater(STEP_WITHIN_MS, () => platform.describe())]).catch(
      (error: Error) => void problems.push({ kind: 'stuck', problem: `${what}: ${error.message}` }),
    );
  for (const fault of faults) {
    const { from, to } = options.hold;
    await waitUntil('its share has begun', () => platform.hasBegunShare(), RECOVER_WITHIN_MS);
    const holdMs = random.between(from, to);
    const hold = () => delay(holdMs);
    const context = { deployment, random, hold, node: undefined };
    openAt[fault.name] = platform.open;
    await attempt(fault.name, () => fault.strike(context));
    options.onStruck(fault, platform.answered);
    platform.openNextShare();
  }
  await attempt('answering', () => platform.finish());
  const seconds = (performance.now() - startedAt) / 1_000;
  await attempt('finalizing', async () => {
    const before = await readNow(deployment);
    await waitUntil('all is finalized', () => isFinalized(deployment, before), RECOVER_WITHIN_MS);
  });
  const listed = new Set<string>();
  await attempt('listing', () => platform.list(listed));
  const stored = await readStored(deployment, events);
  const { history, unknown } = platform;
  const partnerIds = events.map(({ fixture }) => fixture.partnerId);
  const written = { first, history, stored, partnerIds };
  const file = await writeHistory(options.directory ?? HISTORIES, `client-${options.seed}`, written);
  const count = (code: string) => history.requests.filter((request) => codeOf(request) === code).length;
  const result = {
    faults: faults.map(({ name }) => name),
    granted: count('00'),
    soldOut: count('32'),
    unknown,
    openAt,
    file,
    stored: stored.registrations.length,
    seconds,
    violations: [
      ...problems,
      ...(await checkFile(file)).violations,
      ...Object.entries(openAt).flatMap(([name, open]) => (open > 0 ? [] : [missed(name)])),
      // The client asks again until it knows, whatever happens.
      ...checkHistory(history, stored, { mayTimeOut: false, mayFail: false }),
      ...history.requests.filter((request) => codeOf(request) === undefined).map(unanswered),
      ...history.requests.filter((request) => isMissing(request, listed)).map(unlisted),
      ...[...deployment.apis, ...deployment.workers]
        .flatMap((service) => service.misfortunes())
        .map((problem): Violation => ({ kind: 'stuck', problem: `a process ${problem}` })),
      ...(await reconcile(deployment.db)).map(({ subject, problem }): Violation => ({
        kind: 'wrong',
        problem: `${subject} ${problem}`,
      })),
    ],
  };
  await forgetFile(result, options);
  return result;
}

/** Every fault has to meet registrations in flight. */
const missed = (fault: string): Violation => ({
  kind: 'wrong',
  problem: `missed: ${fault} × registration in flight`,
});

/** Rejects, saying how far it came, when a step has not ended in time. */
async function rejectLater(ms: number, describe: () => string): Promise<never> {
  await delay(ms, undefined, { ref: false });
  throw new Error(`not done within ${ms} ms, with ${describe()}`);
}

function codeOf({ attempts: [attempt] }: RequestRecord): string | undefined {
  return attempt?.end.kind === 'answered' ? attempt.end.code : undefined;
}

const unlisted = (request: RequestRecord): Violation => ({
  kind: 'lost',
  problem: 'not in the list',
  request,
});

function isMissing({ attempts: [attempt] }: RequestRecord, listed: ReadonlySet<string>): boolean {
  const passReference = attempt?.end.kind === 'answered' ? attempt.end.passReference : null;
  return passReference !== null && !listed.has(passReference);
}

const unanswered = (request: RequestRecord): Violation => ({ kind: 'stuck', problem: 'no answer', request });

/** A partner's platform that uses the client. */
class Platform {
  readonly history: History = newHistory();
  answered = 0;
  unknown = 0;
  readonly #startedAt = performance.now();
  readonly #random: Random;
  readonly #event: EventOnSale;
  readonly #seed: number;
  readonly #perShare: number;
  readonly #total: number;
  readonly #clients: FloodgateClient[];
  readonly #underWay: Promise<void>[] = [];
  #shares = 1;
  #nextShare = Promise.withResolvers<void>();

  constructor(
    { apiUrls, wires }: Deployment,
    event: EventOnSale,
    { seed, registrations }: ClientCampaignOptions,
    shares: number,
  ) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#event = event;
    this.#total = registrations;
    this.#perShare = Math.ceil(registrations / shares);
    keepPrivate([nameOf(`c${seed}`)]);
    const { secretKey, eventRef } = event.fixture;
    this.#clients = apiUrls.map((url, api) =>
      createClient({
        baseUrl: wires.partnersToApis[api]!.through(url),
        secretKey,
        eventRef,
        attemptWithinMs: 5_000,
      }),
    );
    for (const api of this.#clients.keys())
      for (let lane = 0; lane < OUTSTANDING; lane += 1) this.#underWay.push(this.#run(api));
  }

  #limit(): number {
    return Math.min(this.#total, this.#shares * this.#perShare);
  }

  /** Whether half of the open share has been asked for: what strikes now strikes in the middle of it. */
  hasBegunShare(): boolean {
    return this.history.requests.length >= this.#limit() - this.#perShare / 2;
  }

  openNextShare(shares = 1): void {
    this.#shares += shares;
    this.#nextShare.resolve();
    this.#nextShare = Promise.withResolvers();
  }

  /** Registrations that were asked for and are not answered. */
  get open(): number {
    return this.history.requests.length - this.answered;
  }

  /** Says how far it came. */
  describe(): string {
    const open = this.history.requests.filter(({ attempts }) => attempts.length === 0);
    const named = open
      .slice(0, NAMED)
      .map(({ id, group }) => (group === null ? id : `${id} of group ${group}`));
    return `${this.answered} answered, ${this.unknown} asked again, ${open.length} open: ${named.join(', ')}`;
  }

  /** Asks for what is left; resolves when everything is answered. */
  async finish(): Promise<void> {
    this.openNextShare(Number.POSITIVE_INFINITY);
    await Promise.all(this.#underWay);
  }

  /** Reads the list of what became of the registrations, and closes the clients. */
  async list(listed: Set<string>): Promise<void> {
    const [client] = this.#clients as [FloodgateClient];
    for await (const { passReference } of client.registrations()) listed.add(passReference);
    await Promise.all(this.#clients.map((one) => one.close()));
  }

  async #run(api: number): Promise<void> {
    while (this.history.requests.length < this.#total) {
      if (this.history.requests.length < this.#limit()) await this.#register(api);
      else await this.#nextShare.promise;
    }
  }

  async #register(api: number): Promise<void> {
    const client = this.#clients[api]!;
    if (this.#random.chance(GROUP_PERCENT)) return this.#registerGroup(client, api);
    const request = this.#want(null);
    const record = this.#record('register', [request]);
    const isKeyed = this.#random.chance(KEYED_PERCENT);
    let result = await client.register(bodyOf(request), isKeyed ? { idempotencyKey: request.id } : {});
    while (result.code === 'unknown') {
      this.unknown += 1;
      result = await result.askAgain();
    }
    this.#note(request, api, result);
    this.#noteEnd(record, [result]);
  }

  async #registerGroup(client: FloodgateClient, api: number): Promise<void> {
    const { from, to } = GROUP_SIZE;
    const group = `g${this.history.requests.length}`;
    const left = this.#total - this.history.requests.length;
    const size = Math.min(left, this.#random.between(from, to));
    const requests = Array.from({ length: size }, () => this.#want(group));
    const record = this.#record('bulk', requests);
    let result = await client.registerBulk(requests.map(bodyOf), { mode: 'all' });
    while (result.code === 'unknown') {
      this.unknown += 1;
      result = await result.askAgain();
    }
    const answers = result.code === '00' ? result.registrations : requests.map(() => result);
    requests.forEach((request, index) => this.#note(request, api, answers[index] as RegisterResult));
    this.#noteEnd(record, answers as RegisterResult[]);
  }

  /** The client repeats a call until it is answered. In the file it is one call. */
  #record(call: string, requests: readonly RequestRecord[]): CallRecord {
    const seats = requests.map(({ id, ticketId }) => ({ ticket: ticketId, id }));
    const record = {
      call,
      event: 0,
      all: call === 'bulk',
      start: this.#now(),
      end: null,
      answer: null,
      seats,
    };
    this.history.calls.push(record);
    return record;
  }

  #noteEnd(record: CallRecord, results: readonly RegisterResult[]): void {
    record.end = this.#now();
    record.answer = '00';
    for (const [index, result] of results.entries())
      Object.assign(record.seats[index]!, {
        answer: result.code,
        pass: 'passReference' in result ? result.passReference : null,
      });
  }

  #now(): number {
    return performance.now() - this.#startedAt;
  }

  #want(group: string | null): RequestRecord {
    const [roomy, ...others] = this.#event.ticketIds as [number, ...number[]];
    const request = newRequest({
      id: `c${this.#seed}-${this.history.requests.length}`,
      event: 0,
      ticketId: this.#random.chance(ROOMY_PERCENT) ? roomy : this.#random.pick(others),
      isKeyed: true,
      group,
    });
    this.history.requests.push(request);
    return request;
  }

  #note(request: RequestRecord, api: number, result: RegisterResult): void {
    this.answered += 1;
    const now = this.#now();
    const passReference = 'passReference' in result ? result.passReference : null;
    request.attempts.push({
      api,
      sentAt: now,
      endedAt: now,
      end: { kind: 'answered', status: 200, code: result.code, passReference },
    });
  }
}

const nameOf = (id: string) => `Attendee ${id}`;

const bodyOf = ({ id, ticketId }: RequestRecord): RegistrationRequest => ({
  fullName: nameOf(id),
  emailAddress: `${id}@example.com`,
  organizedEventTicketID: ticketId,
  extraData1: id,
});
