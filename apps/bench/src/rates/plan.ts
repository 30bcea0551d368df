import { batchedInserts } from '../contenders/batched-inserts.ts';
import type { Contender } from '../contenders/contender.ts';
import { emptyRoute } from '../contenders/empty-route.ts';
import { floodgate } from '../contenders/floodgate.ts';
import { withEvents, withRegistrations } from '../contenders/grown.ts';
import { bullmq, naive } from '../contenders/peers.ts';
import type { Entry, Pairing } from './pairing.ts';
import {
  bulk,
  client,
  getTickets,
  hotTicket,
  manyEvents,
  manyTickets,
  mix,
  openLoop,
  sellOut,
  shareOfPeak,
  type Workload,
} from './workloads.ts';

/** Returns Floodgate under a workload, next to another contender or alone. */
const under = (workload: Workload, other: Contender | null, pairs: number, seconds = 5): Pairing => ({
  title: workload.name,
  mine: { row: floodgate.name, contender: floodgate, workload },
  ...(other && { other: { row: other.name, contender: other, workload } }),
  pairs,
  seconds,
});

const single = hotTicket(128);

/** One hot ticket against the obvious designs and the ceiling. */
export const quickPlan: readonly Pairing[] = [naive, bullmq, emptyRoute].map((other) =>
  under(single, other, 1, 3),
);

const singleCalls: Entry = { row: 'single calls', contender: floodgate, workload: single };
const bulkCalls: Entry = { row: 'bulk calls', contender: floodgate, workload: bulk };
const clientCalls: Entry = { row: 'client', contender: floodgate, workload: client };
const inserts: Entry = { row: batchedInserts.name, contender: batchedInserts, workload: single };

/** Bulk calls against single ones, and against the same rows without HTTP. */
export const bulkPlan: readonly Pairing[] = [singleCalls, inserts].map((other) => ({
  title: 'bulk',
  mine: bulkCalls,
  other,
  pairs: 4,
  seconds: 5,
}));

/** One process with the client against 128 connections with single calls, and against bulk calls. */
export const clientPlan: readonly Pairing[] = [singleCalls, bulkCalls].map((other) => ({
  title: 'client',
  mine: clientCalls,
  other,
  pairs: 3,
  seconds: 5,
}));

/** The same load on databases with a history. */
export const growthPlan = (registrations: number): readonly Pairing[] =>
  [withRegistrations(registrations), withEvents].map((other) => ({
    ...under(single, other, 4),
    title: 'growth',
  }));

export const fullPlan: readonly Pairing[] = [
  under(single, naive, 2),
  under(single, bullmq, 2),
  under(single, emptyRoute, 4),
  under(hotTicket(512), emptyRoute, 4),
  under(single, batchedInserts, 1),
  under(sellOut, bullmq, 1),
  under(manyTickets, bullmq, 1),
  under(mix, bullmq, 1),
  under(getTickets, emptyRoute, 2),
  under(openLoop(50), bullmq, 2, 10),
  under(openLoop(5_000), null, 2),
  ...[30, 60, 90].map((percent) => under(shareOfPeak(percent), null, 1)),
  ...bulkPlan.map((pairing) => ({ ...pairing, pairs: 1 })),
];

/**
 * This checkout against another, under full load of each kind and under a load that leaves both partly idle.
 * Runs are short and many, because a machine's speed can change by half within seconds.
 */
export function checkoutPlan(after: Contender, before: Contender): readonly Pairing[] {
  const pairing = (workload: Workload): Pairing => ({
    title: workload.name,
    mine: { row: after.name, contender: after, workload },
    other: { row: before.name, contender: before, workload },
    pairs: 24,
    seconds: 1,
    isSideBySide: true,
  });
  return [
    ...[single, bulk, manyTickets, manyEvents, getTickets, mix].map(pairing),
    { ...pairing(openLoop(500)), pairs: 8, seconds: 4 },
  ];
}
