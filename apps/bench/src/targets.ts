import { batchedInserts } from './contenders/batched-inserts.ts';
import { bulk } from './contenders/bulk.ts';
import { client } from './contenders/client.ts';
import { floodgate } from './contenders/floodgate.ts';
import { cpuRatios } from './citus/ratios.ts';
import { emptyRoute } from './contenders/empty-route.ts';
import { GROWN, MANY_EVENTS } from './growth.ts';
import { median, medianOf } from './report/statistics.ts';
import type {
  Citus,
  Comparison,
  Fairness,
  Figure,
  Finalization,
  History,
  Hostile,
  NodeStop,
  Outage,
  Overload,
  Run,
  Soak,
  Target,
  WebhookDrain,
} from './results.ts';
import { getTickets, hotTicket, openLoop } from './workloads.ts';

interface Measured {
  runs: readonly Run[];
  comparisons: readonly Comparison[];
  soak?: Soak | undefined;
  overloads?: readonly Overload[] | undefined;
  fairnesses?: readonly Fairness[] | undefined;
  hostiles?: readonly Hostile[] | undefined;
  outages?: readonly Outage[] | undefined;
  finalizations?: readonly Finalization[] | undefined;
  citus?: Citus | undefined;
  histories?: readonly History[] | undefined;
  webhooks?: readonly WebhookDrain[] | undefined;
  figures?: readonly Figure[] | undefined;
}

/** Returns Floodgate's targets and whether these runs meet them. Leaves out targets without figures. */
export function judgeTargets(measured: Measured): Target[] {
  const {
    runs,
    comparisons,
    soak,
    overloads = [],
    fairnesses = [],
    hostiles = [],
    outages = [],
    finalizations = [],
    citus,
    histories = [],
    webhooks = [],
    figures = [],
  } = measured;
  const counted = runs.filter((run) => !run.discarded);
  const ratio = (workload: string, connections: number, contender: string) =>
    comparisons.find(
      (one) => one.workload === workload && one.connections === connections && one.contender === contender,
    )?.ratio.median;
  const hot = hotTicket(128).name;
  const mine = (workload: string) =>
    counted.filter(
      (run) =>
        run.contender === floodgate.name &&
        run.workload === workload &&
        // Figures without a number of connections in their name are for 128 connections.
        (workload !== hot || run.connections === 128),
    );
  const queuePeers = ['b', 'c', 'd', 'e'].map((letter) => ratio(hot, 128, `peer-${letter}`));
  const lowest = (values: (number | undefined)[]) =>
    values.every((value) => value !== undefined) ? Math.min(...values) : undefined;
  const highest = (values: (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    return known.length > 0 ? Math.max(...known) : undefined;
  };
  const inverse = (value: number | undefined) => value && 1 / value;
  const memory = (run: Pick<Run, 'residentMiB'>) =>
    run.residentMiB?.api && run.residentMiB.worker && run.residentMiB.api + run.residentMiB.worker;
  const lowLoad = openLoop(50).name;
  const peerBAlone = counted.filter((run) => run.contender === 'peer-b' && run.workload === lowLoad);
  const p50 = (run: Run) => run.latencyMs.p50;
  const steady = mine(openLoop(5_000).name);

  const byClient = counted.filter((run) => run.contender === client.name);
  const inBulk = counted.filter((run) => run.contender === bulk.name);

  return [
    atLeast(
      'bulk, rate ÷ single calls',
      4.5,
      inBulk.length > 0 && byClient.length === 0 ? ratio(hot, 128, floodgate.name) : undefined,
    ),
    atLeast(
      'bulk, rate ÷ the same rows without HTTP',
      0.6,
      inBulk.length > 0 ? ratio(hot, 128, batchedInserts.name) : undefined,
    ),
    atMost(
      'bulk, CPU per finalized registration, all processes',
      16,
      medianOf(inBulk.map((run) => run.cpuMicros?.total)),
      'µs',
    ),
    atLeast(
      'client, register() a second from one process',
      20_000,
      medianOf(byClient.map((run) => run.acceptedPerSecond)),
    ),
    atLeast('hot ticket, rate ÷ peer A', 25, ratio(hot, 128, 'peer-a')),
    atLeast('hot ticket, rate ÷ best of peers B–E', 14, lowest(queuePeers)),
    atLeast('hot ticket, rate ÷ empty route, 128 connections', 0.55, ratio(hot, 128, emptyRoute.name)),
    atLeast('hot ticket, rate ÷ empty route, 512 connections', 0.65, ratio(hot, 512, emptyRoute.name)),
    atMost(
      'hot ticket, wait for finalization, p99',
      1_000,
      highest(mine(hot).map((run) => run.waitMs?.p99)),
      'ms',
    ),
    atMost('hot ticket, drained after the load', 2, highest(mine(hot).map((run) => run.drainSeconds)), 's'),
    atMost(
      'hot ticket, CPU per finalized registration, all processes',
      45,
      medianOf(mine(hot).map((run) => run.cpuMicros?.total)),
      'µs',
    ),
    atLeast(
      'Get Tickets, rate ÷ empty route',
      0.9,
      ratio(getTickets.name, getTickets.connections, emptyRoute.name),
    ),
    atMost('5,000/s, p50', 3, medianOf(steady.map(p50)), 'ms'),
    atMost('5,000/s, p99', 15, medianOf(steady.map((run) => run.latencyMs.p99)), 'ms'),
    atMost(
      '50/s, p50 (peer B in the same run)',
      medianOf(peerBAlone.map(p50)),
      medianOf(mine(lowLoad).map(p50)),
      'ms',
    ),
    atMost('hot ticket, memory of API + worker', 300, highest(mine(hot).map(memory)), 'MiB'),
    atLeast('rate with 10 million stored ÷ fresh', 0.9, inverse(ratio(hot, 128, GROWN))),
    atLeast('rate with 1,000 events ÷ fresh', 0.9, inverse(ratio(hot, 128, MANY_EVENTS))),
    atMost('soak, memory of API + worker at the end ÷ after the first minute', 1.1, growthOf(soak)),
    atMost('soak, memory of API + worker', 300, highest((soak?.samples ?? []).map(memory)), 'MiB'),
    ...overloads.flatMap(overloadTargets),
    ...fairnessTargets(fairnesses),
    ...hostileTargets(hostiles),
    ...outages.flatMap(outageTargets),
    ...finalizationTargets(finalizations),
    ...webhookTargets(webhooks),
    ...figures.map(figureTarget),
    ...(citus ? citusTargets(citus) : []),
    ...histories.flatMap(historyTargets),
  ].filter((target) => target !== undefined);
}

function overloadTargets(overload: Overload) {
  const title = `overload, ${overload.bottleneck} the bottleneck`;
  return [
    atLeast(`${title}: sent ÷ scheduled`, 0.95, overload.sentPerSecond / overload.offeredPerSecond),
    atLeast(`${title}: accepted ÷ peak`, 0.9, overload.acceptedPerSecond / overload.peakPerSecond),
    atMost(`${title}: p99 of answers 90`, 50, overload.refusedMs.p99, 'ms'),
    atMost(`${title}: answers 90 without Retry-After`, 0, overload.refusedWithoutRetryAfter),
    atMost(`${title}: memory of the API`, 500, overload.apiMiB.max, 'MiB'),
    atMost(`${title}: served as before after`, 2, overload.recoverySeconds, 's'),
    atMost(`${title}: faults in the books`, 0, overload.fault === '' ? 0 : 1),
  ];
}

/** Answers that nothing was reserved or that the outcome is unknown. */
/** Returns the ratio of a partner's latency next to the other one and alone. */
export const p99Ratio = ({ alone, beside }: Fairness): number => beside.p99Ms / alone.p99Ms;

function fairnessTargets(fairnesses: readonly Fairness[]) {
  return [...Map.groupBy(fairnesses, ({ name }) => name)].flatMap(([name, rounds]) => [
    atLeast(`beside ${name}: answered 00`, 0.95, median(rounds.map(({ beside }) => beside.share))),
    atMost(
      `beside ${name}: p99 ÷ alone`,
      name === 'a flood of single calls' ? 2 : 3,
      median(rounds.map(p99Ratio)),
    ),
    atMost(
      `beside ${name}: rounds with faults in the books`,
      0,
      rounds.filter(({ fault }) => fault !== '').length,
    ),
  ]);
}

function hostileTargets(hostiles: readonly Hostile[]) {
  return [...Map.groupBy(hostiles, ({ name }) => name)].flatMap(([name, rounds]) => {
    const of = (read: (one: Hostile) => number) => median(rounds.map(read));
    const p99 = of(({ beside }) => beside.p99Ms);
    return [
      atLeast(
        `beside ${name}: answered 00`,
        1,
        of(({ beside }) => beside.share),
      ),
      name.startsWith('one bulk call')
        ? atMost(
            `beside ${name}: longest wait`,
            100,
            of(({ beside }) => beside.maxMs),
            'ms',
          )
        : undefined,
      name === 'four callers of junk' ? atMost(`beside ${name}: p99`, 300, p99, 'ms') : undefined,
      name.startsWith('1,500')
        ? atMost(
            `beside ${name}: API memory`,
            200,
            of(({ addedMiB }) => addedMiB),
            'MiB',
          )
        : undefined,
      name.startsWith('200 callers')
        ? atMost(
            `beside ${name}: p99 ÷ alone`,
            5,
            of(({ alone, beside }) => beside.p99Ms / alone.p99Ms),
          )
        : undefined,
    ];
  });
}

const DURING_OUTAGE = new Set(['00', '90', '91', 'cut']);

function outageTargets(outage: Outage) {
  const title = `${outage.name} away for ${outage.seconds} s`;
  const sum = (isCounted: (code: string) => boolean) =>
    Object.entries(outage.answers).reduce((all, [code, count]) => all + (isCounted(code) ? count : 0), 0);
  return [
    ...(outage.name === 'Postgres'
      ? [
          atMost(
            `${title}: answers that are not 00, 90 or 91`,
            0,
            sum((code) => !DURING_OUTAGE.has(code)),
          ),
          atMost(`${title}: slowest answer`, 3, outage.slowestMs / 1000, 's'),
          atMost(`${title}: served again after`, 3, outage.servedAfterSeconds, 's'),
        ]
      : [
          atMost(
            `${title}: failed registrations`,
            0,
            sum((code) => code !== '00'),
          ),
          atMost(`${title}: all confirmed after`, 10, outage.confirmedAfterSeconds, 's'),
        ]),
    atMost(`${title}: lost`, 0, outage.lost),
    atMost(`${title}: doubled`, 0, outage.doubled),
    atMost(`${title}: memory of the API ÷ before`, 2, outage.apiMiB.max / outage.apiMiB.before),
    atMost(`${title}: faults in the books`, 0, outage.fault === '' ? 0 : 1),
  ];
}

/** Returns the CPU time of worker and Redis under full load, and Postgres's for finalization. */
export const costOf = ({ underLoad, drained }: Finalization): number =>
  underLoad.worker + underLoad.redis + drained.postgres;

function finalizationTargets(finalizations: readonly Finalization[]) {
  return [...Map.groupBy(finalizations, ({ load }) => load)].flatMap(([load, rounds]) => [
    atMost(`finalization, ${load}: CPU per registration, all processes`, 3, median(rounds.map(costOf)), 'µs'),
    atMost(
      `finalization, ${load}: rounds with faults in the books`,
      0,
      rounds.filter(({ fault }) => fault !== '').length,
    ),
  ]);
}

/** Returns the rate of good receivers next to bad ones, divided by their rate alone, by neighbouring rounds. */
function webhookTargets(drains: readonly WebhookDrain[]) {
  const rates = (name: WebhookDrain['name']) =>
    drains.filter((drain) => drain.name === name).map(({ perSecond }) => perSecond);
  if (drains.length === 0) return [];
  const alone = rates('five receivers');
  const ratios = rates('five receivers beside five bad ones').map((rate, index) => rate / alone[index]!);
  return [
    atLeast('webhooks, one receiver: registrations told per second', 15_000, median(rates('one receiver'))),
    atLeast('webhooks, five receivers: entries per second', 15_000, median(alone)),
    atLeast('webhooks, five receivers: rate beside five bad ones ÷ alone', 0.95, median(ratios)),
  ];
}

function figureTarget({ name, unit, rounds, atLeast: least, atMost: most }: Figure) {
  const measured = median(rounds);
  return least === undefined ? atMost(name, most, measured, unit) : atLeast(name, least, measured);
}

function citusTargets({ runs, nodeStop }: Citus) {
  const faults = runs.filter(({ fault }) => fault !== '').length;
  return [
    ...(['launches', 'everywhere'] as const).map((load) =>
      atLeast(
        `Citus, ${load}: rate per second of Postgres CPU ÷ plain Postgres`,
        0.6,
        medianOf(
          cpuRatios(
            runs.filter((run) => run.load === load),
            'Citus',
          ),
        ),
      ),
    ),
    atMost('Citus, runs with faults in the books', 0, faults),
    ...(nodeStop ? nodeStopTargets(nodeStop) : []),
  ];
}

function nodeStopTargets({ living, deadAnswers, deadP99Ms, lost, doubled, fault }: NodeStop) {
  const title = 'Citus, one server away';
  const others = Object.entries(deadAnswers).filter(([code]) => !['00', '90', '91'].includes(code));
  return [
    atLeast(
      `${title}: rate of the others' events ÷ before`,
      0.9,
      living.away.perSecond / living.before.perSecond,
    ),
    atMost(
      `${title}: answers to its own that are not 90 or 91`,
      0,
      others.reduce((sum, [, count]) => sum + count, 0),
    ),
    atMost(`${title}: p99 of its own`, 3, deadP99Ms / 1000, 's'),
    atMost(`${title}: lost`, 0, lost),
    atMost(`${title}: doubled`, 0, doubled),
    atMost(`${title}: faults in the books`, 0, fault === '' ? 0 : 1),
  ];
}

/** The largest page. A reader of a shorter one scans the same range to find its end. */
const PAGE = 1_000;

function historyTargets({ name, firstPageMs, anyPageMs, reads, finds, exported }: History) {
  const beyondPage = Math.max(0, reads.segments + reads.registrations - PAGE);
  return [
    atMost(`history, ${name}: p50 of a page from anywhere ÷ the first`, 1.5, anyPageMs.p50 / firstPageMs.p50),
    atMost(`history, ${name}: p99 of a search in an event`, 50, finds.ofEventMs.p99, 'ms'),
    atMost(`history, ${name}: p99 of a page of attendees`, 50, finds.pageMs.p99, 'ms'),
    atMost(`history, ${name}: rows read, but for a page, ÷ entries returned`, 2, beyondPage / reads.returned),
    ...(exported
      ? [
          atMost(`history, ${name}: time of an export`, 60, exported.seconds, 's'),
          atMost(`history, ${name}: peak memory of an export`, 150, exported.peakMiB, 'MiB'),
        ]
      : []),
  ];
}

/** Returns memory at the end divided by memory after the first minute, from medians of half a minute each. */
function growthOf(soak: Soak | undefined): number | undefined {
  const last = soak?.samples.at(-1)?.second ?? 0;
  const around = (from: number) => {
    const sums = (soak?.samples ?? [])
      .filter(({ second }) => second >= from && second <= from + 30)
      .flatMap(({ residentMiB: { api, worker } }) => (api && worker ? [api + worker] : []));
    return sums.length > 0 ? median(sums) : undefined;
  };
  const [early, late] = [around(60), around(last - 30)];
  return early && late && late / early;
}

function atLeast(name: string, bound: number, measured: number | undefined): Target | undefined {
  if (measured === undefined) return undefined;
  return { name, wanted: `≥ ${bound}`, measured, unit: '', met: measured >= bound };
}

function atMost(
  name: string,
  bound: number | undefined,
  measured: number | undefined,
  unit = '',
): Target | undefined {
  if (measured === undefined || bound === undefined) return undefined;
  const shown = Number(bound.toPrecision(3)).toLocaleString('en-US');
  return { name, wanted: `≤ ${shown}`, measured, unit, met: measured <= bound };
}
