import { setTimeout as delay } from 'node:timers/promises';
import { reconcile } from '@floodgate/registrations';
import { repeat } from '@floodgate/service';
import { journalOf } from '../harness/journal.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { checkChain, checkMails, findRepeats, nameOfEntry, type Addressee } from './check-deliveries.ts';
import { checkHistory, type Violation } from './check-history.ts';
import type { Deployment } from './deployment.ts';
import type { NodeUnderTest } from './citus-under-test.ts';
import { deliverNow, isDelivered } from './deliveries.ts';
import { createEvents, pathOf, type EventOnSale } from './events-on-sale.ts';
import { makesRequestsFail, type Fault } from './fault.ts';
import { isSaid, labelOf, type History, type Stored } from './history.ts';
import { Partners } from './partners.ts';
import { Random } from './random.ts';
import { readList } from './read-list.ts';
import { runningTime } from './running-time.ts';
import {
  endHolds,
  hasNoneOpen,
  isFinalized,
  isNoneOverdue,
  isNoneServable,
  readNow,
  readStored,
} from './read-stored.ts';
import { checkWaiting, contactOf, countWaiting, findNewcomers, raiseSome } from './waiting-list.ts';

/** What happens in a round; everything else follows from its seed. */
export interface Round {
  seed: number;
  faults: readonly Fault[];
  holdMs: number;
}

export interface RoundResult extends Round {
  requests: number;
  granted: number;
  /** How the attempts ended, by response code or by what came instead of an answer. */
  ends: Record<string, number>;
  /** How often partners did more than register. */
  uses: Record<string, number>;
  /** From the end of the fault until every API answered "00" again. */
  servingAfterMs: number;
  /** From the end of the fault until everything from before it was finalized. */
  finalizedAfterMs: number;
  /** How long this suite's process stood still at most. */
  longestStopMs: number;
  violations: Violation[];
  /** What each of its processes warned of last. */
  warnings: Record<string, string[]>;
}

const WARM_UP_REQUESTS = 50;
const REQUESTS_AFTER = 100;
const RECOVER_WITHIN_MS = 60_000;
const REST_WITHIN_MS = 240_000;
/** Long before their time: a round lasts some seconds. */
const HOLDS_END_EVERY_MS = 300;
const HOLDS_ENDED_PERCENT = 30;

/** Runs load against a deployment while faults strike, waits until it has recovered, and checks the history. */
export async function runRound(deployment: Deployment, round: Round): Promise<RoundResult> {
  const random = new Random(round.seed);
  const { db } = deployment;
  runningTime.takeLongestStopMs();
  const events = await createEvents(deployment, random);
  const mailsBefore = deployment.mails.taken.length;
  const node = deployment.nodes.length > 0 ? random.pick(deployment.nodes) : undefined;
  const isOnPartnersWire = round.faults.some((fault) => fault.isOnPartnersWire);
  const { apiUrls, wires } = deployment;
  const partners = new Partners({
    apiUrls: isOnPartnersWire
      ? apiUrls.map((url, index) => trimSlash(wires.partnersToApis[index]!.through(url)))
      : apiUrls,
    events,
    roundId: `r${round.seed}`,
    random: new Random(random.seed()),
  });
  const raises = new Random(random.seed());
  const endSome = async () => {
    await endHolds(deployment, events, HOLDS_ENDED_PERCENT);
    await raiseSome(deployment, events, raises);
    return 'done' as const;
  };
  // A server may be away; the seats wait for the next time.
  const ending = repeat(endSome, HOLDS_END_EVERY_MS, () => {});
  const problems: Violation[] = [];
  const attempt = async (what: string, act: () => Promise<unknown>) => {
    await act().catch((error: Error) =>
      problems.push({ kind: 'stuck', problem: `${what}: ${error.message}` }),
    );
  };
  await attempt('before the fault', () =>
    waitUntil('the service works', () => partners.history.requests.length >= WARM_UP_REQUESTS),
  );
  const struckAt = partners.now();
  /** While one node alone is away, the events of the others are sold. */
  const hold = async () => {
    await delay(round.holdMs);
    if (!isNodeAlone(round)) return;
    await attempt('while a node is away', () =>
      waitUntil(
        'every event of the other nodes is sold',
        () => isSoldElsewhere(partners, events, node, struckAt),
        RECOVER_WITHIN_MS,
      ),
    );
  };
  await attempt('the fault', () =>
    Promise.all(
      round.faults.map((fault) =>
        fault.strike({ deployment, random: new Random(random.seed()), hold, node }),
      ),
    ),
  );
  const mendedAt = partners.now();
  let servingAfterMs = Number.NaN;
  let finalizedAfterMs = Number.NaN;
  await Promise.all([
    attempt('serving again', async () => {
      const servedAt = await waitUntil(
        'every API grants seats again',
        () => allServedAt(partners, apiUrls.length, [...events.keys()], mendedAt),
        RECOVER_WITHIN_MS,
      );
      servingAfterMs = servedAt - mendedAt;
    }),
    attempt('finalizing again', async () => {
      const before = await readNow(deployment);
      await waitUntil(
        'what was reserved is finalized',
        () => isFinalized(deployment, before),
        RECOVER_WITHIN_MS,
      );
      finalizedAfterMs = partners.now() - mendedAt;
    }),
  ]);
  const afterwards = partners.history.requests.length + REQUESTS_AFTER;
  await attempt('after the fault', () =>
    waitUntil('the service goes on', () => partners.history.requests.length >= afterwards),
  );
  await partners.finish();
  // What ends later would be published between two of the reads below.
  await ending.stop();
  let goesOn: string | null = null;
  const isAtRest = async () => (goesOn = await whatGoesOn(deployment)) === null;
  await attempt('coming to rest', () =>
    waitUntil('nothing goes on', isAtRest, REST_WITHIN_MS).catch((cause) => {
      throw new Error(goesOn ?? 'it cannot be told', { cause });
    }),
  );
  const stored = await readStored(deployment, events);
  const differences = await reconcile(db);
  const { history } = partners;
  const tolerance = {
    mayTimeOut: round.faults.some((fault) => fault.mayTimeOut ?? fault.isOnPartnersWire ?? false),
    mayFail: round.faults.some(makesRequestsFail),
  };
  return {
    ...round,
    requests: history.requests.length,
    granted: stored.registrations.length,
    ends: countEnds(history),
    uses: { ...countUses(history), ...countWaiting(history.waiting, stored.entries) },
    servingAfterMs,
    finalizedAfterMs,
    longestStopMs: runningTime.takeLongestStopMs(),
    warnings: warningsOf(deployment),
    violations: [
      ...problems,
      ...checkHistory(history, stored, tolerance),
      ...checkWaiting(history.waiting, stored.entries, events, tolerance),
      ...(await findNewcomers(deployment, events)),
      ...(await checkTold(deployment, events, stored)),
      ...(await checkPublished(deployment, events, stored)),
      ...checkMails(takenInRound(deployment, mailsBefore), addresseesOf(stored, events), mayComeAgain(round)),
      ...[...deployment.apis, ...deployment.workers, ...deployment.deliveries]
        .flatMap((service) => service.misfortunes())
        .map((problem): Violation => ({ kind: 'stuck', problem: `a process ${problem}` })),
      ...differences.map(({ subject, problem }): Violation => ({
        kind: 'wrong',
        problem: `${subject} ${problem}`,
      })),
    ],
  };
}

/**
 * What still goes on after the load; null: nothing. In this order: an open transaction, such as a reset that nobody waits for, can
 * commit what has then to be finalized, and what is finalized has to be delivered.
 */
async function whatGoesOn(deployment: Deployment): Promise<string | null> {
  if (!(await isNoneOverdue(deployment))) return 'a seat is held for longer than its time';
  if (!(await isNoneServable(deployment))) return 'seats are free for those who wait';
  if (!(await hasNoneOpen(deployment))) return 'a transaction that has written is open';
  if (!(await isFinalized(deployment, await readNow(deployment)))) return 'something is not finalized';
  await deliverNow(deployment);
  return (await isDelivered(deployment)) ? null : 'somebody was not told of everything';
}

/** What partners were told, against what the journal tells. */
async function checkTold(
  { db, webhooks }: Deployment,
  events: readonly EventOnSale[],
  stored: Stored,
): Promise<Violation[]> {
  const references = referencesIn(stored);
  const live = events.filter(({ isTest }) => !isTest);
  const journals = await Promise.all(live.map((event) => readJournalFor(db, event)));
  return live.flatMap((event, index) =>
    checkChain(pathOf(event), webhooks.takenAt(pathOf(event)), journals[index]!, references),
  );
}

const referencesIn = ({ entries }: Stored) =>
  new Map(entries.map(({ serial, reference }) => [serial, reference]));

/** What the journal has for a partner of an event: its registrations, and the tickets. */
const readJournalFor = async (db: Deployment['db'], { fixture }: EventOnSale) =>
  (await journalOf(db, fixture)).filter(
    ({ serial, partnerId }) => serial === null || partnerId === fixture.partnerId,
  );

/** Every state of a registration is in the journal once, and in the list of its partner. */
async function checkPublished({ db, apiUrls }: Deployment, events: readonly EventOnSale[], stored: Stored) {
  const references = referencesIn(stored);
  const violations: Violation[] = [];
  for (const event of events) {
    const { fixture } = event;
    const journal = (await readJournalFor(db, event)).map((entry) => nameOfEntry(entry, references));
    const list = await readList(trimSlash(apiUrls[0]!), event);
    violations.push(...findRepeats(`journal of event ${fixture.eventId}`, journal));
    violations.push(...findRepeats(`list of event ${fixture.eventId}`, list));
    const expected = journal.filter((name) => name.startsWith('registration.'));
    if (list.join() !== expected.join())
      violations.push({ kind: 'wrong', problem: `the list of event ${fixture.eventId} is not its journal` });
  }
  return violations;
}

/** Under way when a process, a server or the wire between them was lost, in each of the processes; see decision 65. */
const UNDER_WAY = 100;

/** How many e-mails may have come a second time. */
const mayComeAgain = ({ faults }: Round) =>
  faults.some(({ part, mayFail }) => part !== 'redis' && part !== 'worker' && mayFail !== false)
    ? 2 * UNDER_WAY
    : 0;

const takenInRound = ({ mails }: Deployment, before: number) => mails.taken.slice(before);

/** Whoever is registered under a live event. Who was cancelled may have been before the e-mail was sent. */
function addresseesOf(
  { registrations, offered, entries }: Stored,
  events: readonly EventOnSale[],
): Addressee[] {
  const tickets = new Set(events.filter(({ isTest }) => !isTest).flatMap(({ ticketIds }) => ticketIds));
  const isLive = ({ ticketId }: { ticketId: number }) => tickets.has(ticketId);
  return [
    ...[...registrations, ...offered].filter(isLive).map(({ address, changes }) => ({
      address: address ?? '',
      mayHaveNone: !changes.includes('confirmed') || changes.includes('cancelled'),
    })),
    // An offer may have ended before its e-mail was sent.
    ...entries
      .filter((entry) => isLive(entry) && entry.wasOffered)
      .map(({ requestId }) => ({ address: contactOf(requestId).emailAddress, mayHaveNone: true })),
  ];
}

const warningsOf = (deployment: Deployment) =>
  Object.fromEntries(
    (['apis', 'workers', 'deliveries'] as const).flatMap((kind) =>
      deployment[kind].map((service, index) => [`${kind} ${index}`, service.warnings()]),
    ),
  );

function countEnds({ requests }: History): Record<string, number> {
  const ends: Record<string, number> = {};
  for (const { end } of requests.flatMap(({ attempts }) => attempts))
    ends[labelOf(end)] = (ends[labelOf(end)] ?? 0) + 1;
  return ends;
}

function countUses({ requests }: History): Record<string, number> {
  const granted = requests.filter(({ attempts }) => isSaid(attempts.map(({ end }) => end)));
  const seats = granted.filter(({ isInBasket }) => isInBasket);
  const confirmed = seats.filter(({ confirmations }) => isSaid(confirmations));
  return {
    'seats of baskets': seats.length,
    'confirmed holds': new Set(confirmed.map(({ group }) => group)).size,
    'changed attendees': granted.filter(({ replaces }) => replaces !== null).length,
  };
}

const trimSlash = (url: string) => url.replace(/\/$/, '');

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
