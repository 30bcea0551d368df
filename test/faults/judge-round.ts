import { reconcile } from '@floodgate/registrations';
import { checkHistory, countExcused, type Tolerance, type Violation } from './check-history.ts';
import { checkPublished, checkRoundsMails, checkTold } from './check-told.ts';
import type { Deployment } from './deployment.ts';
import { pathOf, type EventOnSale } from './events-on-sale.ts';
import { makesRequestsFail } from './fault.ts';
import { checkFile, writeHistory, type FirstTicket } from './history-file.ts';
import { isSaid, labelOf, type History } from './history.ts';
import type { Partners } from './partners.ts';
import { countReached, type Facts, type Reached } from './reached.ts';
import { readFacts } from './read-facts.ts';
import { readStored } from './read-stored.ts';
import type { TakenMail } from './receivers.ts';
import type { Round } from './run-round.ts';
import { runningTime } from './running-time.ts';
import { hasKeptUp } from './stops.ts';
import { checkWaiting, countWaiting, findNewcomers } from './waiting-list.ts';

/** A round that has come to rest. */
export interface RoundAtRest {
  deployment: Deployment;
  round: Round;
  events: readonly EventOnSale[];
  partners: Partners;
  /** The tickets as they were at its begin. */
  first: readonly FirstTicket[];
  /** What did not come to its end. */
  problems: readonly Violation[];
  /** What the suite has seen itself. */
  seen: Pick<Facts, 'struck' | 'leasedThroughout' | 'waitedForRetry'>;
  /** Of this round. */
  mails: readonly TakenMail[];
  /** Where the file goes. */
  directory: string;
  /** Whether failures without a reason count: on a busy machine they say nothing. */
  judgesFailures: boolean;
}

export interface Judgement {
  requests: number;
  granted: number;
  /** How the attempts ended, by response code or by what came instead of an answer. */
  ends: Record<string, number>;
  /** How often partners did more than register. */
  uses: Record<string, number>;
  /** How long this suite's process stood still at most. */
  longestStopMs: number;
  /** Failures without another reason that are excused because the machine stood still. */
  excused: number;
  /** Which of the listed pairs it has met. */
  reached: Reached;
  /** The file with its history. */
  file: string;
  /** Whether the second checker could decide it. */
  isDecided: boolean;
  violations: Violation[];
  /** What each of its processes warned of, with milliseconds since the begin. */
  warnings: Record<string, string[]>;
}

/** Holds what partners were answered against what is stored and published. */
export async function judgeRound(rest: RoundAtRest): Promise<Judgement> {
  const { deployment, round, events, partners, first, mails, problems } = rest;
  const { history } = partners;
  const stored = await readStored(deployment, events);
  const differences = await reconcile(deployment.db);
  const facts = await readFacts(deployment, events, partners.startedAtEpochMs);
  const partnerIds = events.map(({ fixture }) => fixture.partnerId);
  const written = { first, history, stored, partnerIds };
  const file = await writeHistory(rest.directory, `round-${round.seed}`, written);
  const second = await checkFile(file);
  const tolerance = toleranceOf(rest);
  return {
    requests: history.requests.length,
    granted: stored.registrations.length,
    ends: countEnds(history),
    uses: { ...countUses(history), ...countWaiting(history.waiting, stored.entries) },
    longestStopMs: runningTime.takeLongestStopMs(),
    excused: countExcused(history, tolerance),
    reached: countReached({ ...facts, ...rest.seen, calls: history.calls, ...countAgain(rest) }),
    file,
    isDecided: second.isDecided,
    warnings: warningsOf(deployment, partners.startedAtEpochMs),
    violations: [
      ...problems,
      ...checkHistory(history, stored, tolerance),
      ...checkWaiting(history.waiting, stored.entries, events, tolerance),
      ...second.violations,
      ...(await findNewcomers(deployment, events)),
      ...(await checkTold(deployment, events, stored)),
      ...(await checkPublished(deployment, events, stored)),
      ...checkRoundsMails(mails, stored, events, round),
      ...misfortunesOf(deployment),
      ...differences.map(({ subject, problem }): Violation => ({
        kind: 'wrong',
        problem: `${subject} ${problem}`,
      })),
    ],
  };
}

function toleranceOf({ deployment, round: { faults }, partners, judgesFailures }: RoundAtRest): Tolerance {
  const stops = { suite: runningTime.takeStops(), apis: deployment.stopsOfApis() };
  return {
    mayTimeOut: faults.some((fault) => fault.mayTimeOut ?? fault.isOnPartnersWire ?? false),
    mayFail: faults.some(makesRequestsFail),
    keptUp: (during) => judgesFailures && hasKeptUp(during, partners.startedAtEpochMs, stops),
  };
}

const misfortunesOf = ({ apis, workers, deliveries }: Deployment) =>
  [...apis, ...workers, ...deliveries]
    .flatMap((service) => service.misfortunes())
    .map((problem): Violation => ({ kind: 'stuck', problem: `a process ${problem}` }));

/** How many messages came a second time. */
function countAgain({ deployment: { webhooks }, events, mails }: RoundAtRest) {
  const repeats = (ids: readonly string[]) => ids.length - new Set(ids).size;
  const paths = [...new Set(events.map(pathOf))];
  const webhookIds = paths.map((path) => webhooks.takenAt(path).map(({ id }) => id));
  return {
    mailsTwice: repeats(mails.map(({ to, messageId }) => `${to} ${messageId}`)),
    webhooksTwice: webhookIds.reduce((sum, ids) => sum + repeats(ids), 0),
  };
}

const warningsOf = (deployment: Deployment, sinceEpochMs: number) =>
  Object.fromEntries(
    (['apis', 'workers', 'deliveries'] as const).flatMap((kind) =>
      deployment[kind].map((service, index) => [
        `${kind} ${index}`,
        service.warnings(sinceEpochMs).map(({ at, text }) => `${(at - sinceEpochMs).toFixed(0)} ms: ${text}`),
      ]),
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
