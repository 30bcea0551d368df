import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { repeat } from '@floodgate/service';
import { waitUntil } from '../harness/wait-until.ts';
import type { Violation } from './check-history.ts';
import type { NodeUnderTest } from './citus-under-test.ts';
import { deliverNow, isDelivered } from './deliveries.ts';
import type { Deployment } from './deployment.ts';
import { createEvents, type EventOnSale } from './events-on-sale.ts';
import { makesRequestsFail, type Fault } from './fault.ts';
import { readFirstTickets } from './history-file.ts';
import { judgeRound, type Judgement } from './judge-round.ts';
import { Partners } from './partners.ts';
import { Random } from './random.ts';
import type { Struck } from './reached.ts';
import { hasOpenStates, readMails, type MailsAt } from './read-facts.ts';
import { endHolds, hasNoneOpen, isFinalized, isNoneOverdue, isNoneServable, readNow } from './read-stored.ts';
import { runningTime } from './running-time.ts';
import { raiseSome } from './waiting-list.ts';

/** What happens in a round; everything else follows from its seed. */
export interface Round {
  seed: number;
  faults: readonly Fault[];
  holdMs: number;
}

export interface RoundResult extends Round, Judgement {
  /** From the end of the fault until every API answered "00" again. */
  servingAfterMs: number;
  /** From the end of the fault until everything from before it was finalized. */
  finalizedAfterMs: number;
}

export interface RoundOptions {
  /** Where its file goes. */
  directory?: string | undefined;
  /** Nothing but the test's own limit bounds how long it takes, and no failure counts that a slow machine can cause. */
  hasNoBounds?: boolean;
}

/** Where the files of the rounds go, by default. */
export const HISTORIES = path.join(tmpdir(), 'floodgate-histories', String(process.pid));

const WARM_UP_REQUESTS = 50;
const REQUESTS_AFTER = 100;
const RECOVER_WITHIN_MS = 60_000;
const REST_WITHIN_MS = 240_000;
/** How long it waits for states that its fault is to meet. */
const AIM_WITHIN_MS = 8_000;
/** Long before their time: a round lasts some seconds. */
const HOLDS_END_EVERY_MS = 300;
const HOLDS_ENDED_PERCENT = 30;
/** Of what is held when a fault strikes, so many end while it lasts. */
const ENDED_MEANWHILE_PERCENT = 40;

/** Runs load against a deployment while faults strike, waits until it has recovered, and checks the history. */
export async function runRound(
  deployment: Deployment,
  round: Round,
  options: RoundOptions = {},
): Promise<RoundResult> {
  const run = await RoundRun.begin(deployment, round, options);
  await run.warmUp();
  await run.strike();
  const recovery = await run.recover();
  await run.comeToRest();
  return { ...round, ...recovery, ...(await run.judge()) };
}

class RoundRun {
  readonly #deployment: Deployment;
  readonly #round: Round;
  readonly #options: RoundOptions;
  readonly #random: Random;
  readonly #raises: Random;
  readonly #events: readonly EventOnSale[];
  readonly #first: Awaited<ReturnType<typeof readFirstTickets>>;
  readonly #partners: Partners;
  readonly #node: NodeUnderTest | undefined;
  readonly #mailsBefore: number;
  readonly #problems: Violation[] = [];
  readonly #struck: Struck[] = [];
  #ending: ReturnType<typeof repeat>;
  #mendedAt = 0;
  #mails: { before: MailsAt | null; after: MailsAt | null } = { before: null, after: null };

  static async begin(deployment: Deployment, round: Round, options: RoundOptions): Promise<RoundRun> {
    const random = new Random(round.seed);
    runningTime.takeLongestStopMs();
    runningTime.takeStops();
    const events = await createEvents(deployment, random);
    return new RoundRun(
      deployment,
      round,
      options,
      random,
      events,
      await readFirstTickets(deployment, events),
    );
  }

  private constructor(
    deployment: Deployment,
    round: Round,
    options: RoundOptions,
    random: Random,
    events: readonly EventOnSale[],
    first: Awaited<ReturnType<typeof readFirstTickets>>,
  ) {
    this.#deployment = deployment;
    this.#round = round;
    this.#options = options;
    this.#random = random;
    this.#events = events;
    this.#first = first;
    this.#mailsBefore = deployment.mails.taken.length;
    this.#node = deployment.nodes.length > 0 ? random.pick(deployment.nodes) : undefined;
    this.#partners = new Partners({
      apiUrls: urlsFor(deployment, round),
      events,
      roundId: `r${round.seed}`,
      random: new Random(random.seed()),
    });
    this.#raises = new Random(random.seed());
    this.#ending = this.#beginEnding();
  }

  /** Ends some holds and raises some capacities every now and then. If a server is away, they wait for the next time. */
  #beginEnding() {
    const endSome = async () => {
      await this.#endHolds(HOLDS_ENDED_PERCENT, 0);
      await raiseSome(this.#deployment, this.#events, this.#raises, this.#partners);
      return 'done' as const;
    };
    return repeat(endSome, HOLDS_END_EVERY_MS, () => {});
  }

  #endHolds(percent: number, inMs: number): Promise<void> {
    const { history } = this.#partners;
    const now = () => this.#partners.now();
    return endHolds(this.#deployment, this.#events, { percent, inMs, now, expiries: history.expiries });
  }

  /** Does something. A failure is a violation. */
  async #attempt(what: string, act: () => Promise<unknown>): Promise<void> {
    await act().catch(
      (error: Error) => void this.#problems.push({ kind: 'stuck', problem: `${what}: ${error.message}` }),
    );
  }

  #within(ms: number): number {
    return this.#options.hasNoBounds ? Infinity : ms;
  }

  get #requests(): number {
    return this.#partners.history.requests.length;
  }

  async warmUp(): Promise<void> {
    const hasBegun = () => this.#requests >= WARM_UP_REQUESTS;
    await this.#attempt('before the fault', () =>
      waitUntil('the service works', hasBegun, this.#within(RECOVER_WITHIN_MS)),
    );
    if (this.#options.hasNoBounds) return;
    // What a fault is to meet need not be there in every round.
    const isThere = () => hasOpenStates(this.#deployment, this.#events);
    await waitUntil('states are open', isThere, AIM_WITHIN_MS).catch(() => {});
  }

  /** Strikes. Some holds end meanwhile. */
  async strike(): Promise<void> {
    const { faults, holdMs } = this.#round;
    await this.#ending.stop();
    this.#mails.before = await readMails(this.#deployment, this.#events);
    await this.#endHolds(ENDED_MEANWHILE_PERCENT, holdMs / 2);
    this.#ending = this.#beginEnding();
    const struckAt = this.#partners.now();
    await this.#attempt('the fault', () =>
      Promise.all(faults.map((fault) => this.#strikeWith(fault, struckAt))),
    );
    this.#mendedAt = this.#partners.now();
  }

  async #strikeWith(fault: Fault, from: number): Promise<void> {
    const random = new Random(this.#random.seed());
    const hold = () => this.#hold(from);
    await fault.strike({ deployment: this.#deployment, random, hold, node: this.#node });
    this.#struck.push({ fault: fault.name, from, to: this.#partners.now() });
  }

  /** Lets a fault last. While one node alone is away, the events of the others are sold. */
  async #hold(struckAt: number): Promise<void> {
    await delay(this.#round.holdMs);
    if (this.#round.faults.every(({ part }) => part !== 'postgres'))
      this.#mails.after = await readMails(this.#deployment, this.#events);
    if (!isNodeAlone(this.#round)) return;
    const isSold = () => isSoldElsewhere(this.#partners, this.#events, this.#node, struckAt);
    await this.#attempt('while a node is away', () =>
      waitUntil('every event of the other nodes is sold', isSold, this.#within(RECOVER_WITHIN_MS)),
    );
  }

  /** Waits until the service works again. Returns how long that took. */
  async recover(): Promise<Pick<RoundResult, 'servingAfterMs' | 'finalizedAfterMs'>> {
    let [servingAfterMs, finalizedAfterMs] = [Number.NaN, Number.NaN];
    await Promise.all([
      this.#attempt('serving again', async () => {
        servingAfterMs = (await this.#waitUntilServed()) - this.#mendedAt;
        // A half-open wire is never mended: it lasts until it is noticed.
        for (const struck of this.#struck)
          if (struck.fault.includes('half-open')) struck.to += servingAfterMs;
      }),
      this.#attempt('finalizing again', async () => {
        await this.#waitUntilFinalized();
        finalizedAfterMs = this.#partners.now() - this.#mendedAt;
      }),
    ]);
    const afterwards = this.#requests + REQUESTS_AFTER;
    const goesOn = () => this.#requests >= afterwards;
    await this.#attempt('after the fault', () =>
      waitUntil('the service goes on', goesOn, this.#within(RECOVER_WITHIN_MS)),
    );
    return { servingAfterMs, finalizedAfterMs };
  }

  #waitUntilServed(): Promise<number> {
    const { apiUrls } = this.#deployment;
    const events = [...this.#events.keys()];
    return waitUntil(
      'every API grants seats again',
      () => allServedAt(this.#partners, apiUrls.length, events, this.#mendedAt),
      this.#within(RECOVER_WITHIN_MS),
    );
  }

  async #waitUntilFinalized(): Promise<void> {
    const before = await readNow(this.#deployment);
    await waitUntil(
      'what was reserved is finalized',
      () => isFinalized(this.#deployment, before),
      this.#within(RECOVER_WITHIN_MS),
    );
  }

  async comeToRest(): Promise<void> {
    await this.#partners.finish();
    // What ends later would be published while the round is judged.
    await this.#ending.stop();
    let goesOn: string | null = null;
    const isAtRest = async () => (goesOn = await whatGoesOn(this.#deployment)) === null;
    await this.#attempt('coming to rest', () =>
      waitUntil('nothing goes on', isAtRest, this.#within(REST_WITHIN_MS)).catch((cause) => {
        throw new Error(goesOn ?? 'it cannot be told', { cause });
      }),
    );
  }

  judge(): Promise<Judgement> {
    const { directory = HISTORIES, hasNoBounds = false } = this.#options;
    const { before, after } = this.#mails;
    const stillLeased = [...(after?.leased ?? [])].filter((lease) => before?.leased.has(lease));
    return judgeRound({
      deployment: this.#deployment,
      round: this.#round,
      events: this.#events,
      partners: this.#partners,
      first: this.#first,
      problems: this.#problems,
      seen: {
        struck: this.#struck,
        leasedThroughout: stillLeased.length,
        waitedForRetry: before?.waitingForRetry ?? 0,
      },
      mails: this.#deployment.mails.taken.slice(this.#mailsBefore),
      directory,
      judgesFailures: !hasNoBounds,
    });
  }
}

/** Where partners reach the APIs. */
function urlsFor({ apiUrls, wires }: Deployment, { faults }: Round): string[] {
  const isOnWire = faults.some((fault) => fault.isOnPartnersWire);
  return apiUrls.map((url, index) =>
    isOnWire ? wires.partnersToApis[index]!.through(url).replace(/\/$/, '') : url,
  );
}

/**
 * What still goes on after the load; null: nothing. In this order: an open transaction, such as a reset that
 * nobody waits for, can commit what has then to be finalized, and what is finalized has to be delivered.
 */
async function whatGoesOn(deployment: Deployment): Promise<string | null> {
  if (!(await isNoneOverdue(deployment))) return 'a seat is held for longer than its time';
  if (!(await isNoneServable(deployment))) return 'seats are free for those who wait';
  if (!(await hasNoneOpen(deployment))) return 'a transaction that has written is open';
  if (!(await isFinalized(deployment, await readNow(deployment)))) return 'something is not finalized';
  await deliverNow(deployment);
  return (await isDelivered(deployment)) ? null : 'somebody was not told of everything';
}

/** When every API had granted a seat of each of these events since then. */
function allServedAt(
  partners: Partners,
  apis: number,
  events: readonly number[],
  since: number,
): number | undefined {
  const ofApi = (api: number) => events.map((event) => partners.servedAt(api, event, since));
  const times = Array.from({ length: apis }, (_, api) => ofApi(api)).flat();
  return times.some((time) => time === undefined) ? undefined : Math.max(...(times as number[]));
}

/** Whether nothing else than a worker node keeps requests from being granted. */
const isNodeAlone = ({ faults }: Round) =>
  faults.some(({ isOfNode }) => isOfNode) &&
  faults.every((fault) => fault.isOfNode ?? !makesRequestsFail(fault));

/** Whether a seat of every event of other nodes than this one was granted since. */
const isSoldElsewhere = (
  partners: Partners,
  events: readonly EventOnSale[],
  away: NodeUnderTest | undefined,
  since: number,
) => events.every(({ node }, event) => node === away || partners.isGranted(event, since));
