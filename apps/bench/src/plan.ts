import type { Contender } from './contenders/contender.ts';
import { emptyRoute } from './contenders/empty-route.ts';
import { floodgate } from './contenders/floodgate.ts';
import { grownContenders } from './growth.ts';
import { peers } from './contenders/peers.ts';
import { batchedInserts } from './contenders/batched-inserts.ts';
import { bulk } from './contenders/bulk.ts';
import { client } from './contenders/client.ts';
import {
  bulkCalls,
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

/** Floodgate against one other contender under one workload, or Floodgate alone. */
export interface Pairing {
  workload: Workload;
  /** Absent: Floodgate with the tests' settings. */
  subject?: Contender;
  against: Contender | null;
  /** Number of pairs of runs, in the order A B B A … */
  pairs: number;
  seconds: number;
  /** Both run at once and are measured alternately. Absent: each run starts and stops its processes. */
  isSideBySide?: boolean;
}

const [peerA, peerB] = [peerNamed('peer-a'), peerNamed('peer-b')];

/** Under 90 s: one hot ticket against the obvious designs and the ceiling. */
export function quickPlan(): Pairing[] {
  return [peerA, peerB, emptyRoute].map((against) => ({
    workload: hotTicket(128),
    against,
    pairs: 1,
    seconds: 3,
  }));
}

export function fullPlan(): Pairing[] {
  const pairing = (workload: Workload, against: Contender | null, pairs = 2, seconds = 5) => ({
    workload,
    against,
    pairs,
    seconds,
  });
  return [
    ...peers.map((peer) => pairing(hotTicket(128), peer)),
    pairing(hotTicket(128), emptyRoute, 4),
    pairing(hotTicket(512), emptyRoute, 4),
    pairing(hotTicket(128), batchedInserts, 1),
    pairing(sellOut, peerB, 1),
    pairing(manyTickets, peerB, 1),
    pairing(mix, peerB, 1),
    pairing(getTickets, emptyRoute),
    pairing(openLoop(50), peerB, 2, 10),
    pairing(openLoop(5_000), null, 2),
    ...[30, 60, 90].map((percent) => pairing(shareOfPeak(percent), null, 1)),
  ];
}

/** Bulk calls against single ones, and against the same rows without HTTP. */
export function bulkPlan(): Pairing[] {
  return [floodgate, batchedInserts].map((against) => ({
    workload: hotTicket(128),
    subject: bulk,
    against,
    pairs: 4,
    seconds: 5,
  }));
}

/** One process with the client against 128 connections with single calls, and against bulk calls of 500. */
export function clientPlan(): Pairing[] {
  return [floodgate, bulk].map((against) => ({
    workload: hotTicket(128),
    subject: client,
    against,
    pairs: 3,
    seconds: 5,
  }));
}

/** The same run on grown databases. */
export function growthPlan(): Pairing[] {
  return grownContenders.map((against) => ({ workload: hotTicket(128), against, pairs: 4, seconds: 5 }));
}

/**
 * This checkout against another, under full load of each kind and under a load that leaves both partly idle. Runs are short and many,
 * because a machine's speed can change by half within seconds.
 */
export function checkoutPlan(subject: Contender, against: Contender): Pairing[] {
  const pairing = (workload: Workload, pairs: number, seconds: number) => ({
    workload,
    subject,
    against,
    pairs,
    seconds,
    isSideBySide: true,
  });
  return [
    ...[hotTicket(128), bulkCalls, manyTickets, manyEvents, getTickets, mix].map((workload) =>
      pairing(workload, 24, 1),
    ),
    pairing(openLoop(500), 8, 4),
  ];
}

function peerNamed(name: string): Contender {
  const peer = peers.find((candidate) => candidate.name === name);
  if (!peer) throw new Error(`no such peer: ${name}`);
  return peer;
}

/** In the order of the report. */
export const allContenders: readonly Contender[] = [
  floodgate,
  ...peers,
  emptyRoute,
  batchedInserts,
  bulk,
  client,
  ...grownContenders,
];
