import type { Part } from './contenders/contender.ts';

/** All results of a benchmark run: the content of `bench-results/<time>.json`. */
export interface BenchResults {
  /** ISO 8601. */
  startedAt: string;
  /** The command of the run, e.g. `npm run bench -- --quick`. */
  command: string;
  /** Git commit, with "-dirty" if the tree has changes. Null outside a checkout. */
  commit: string | null;
  machine: { cpu: string; cores: number; memoryGiB: number; os: string };
  versions: Record<string, string>;
  /** Name and one-line description of each contender, in the report's order. */
  contenders: { name: string; description: string }[];
  /** In the report's order. A `paced` load sets the rate, so only latency is compared. */
  workloads: { name: string; description: string; paced: boolean }[];
  runs: Run[];
  comparisons: Comparison[];
  soak?: Soak;
  overloads?: Overload[];
  fairnesses?: Fairness[];
  hostiles?: Hostile[];
  outages?: Outage[];
  /** This checkout against another, by workload. */
  checkouts?: CheckoutComparison[];
  starts?: Start[];
  finalizations?: Finalization[];
  citus?: Citus;
  histories?: History[];
  webhooks?: WebhookDrain[];
  figures?: Figure[];
  /** Floodgate's targets, and whether this run meets them. */
  targets: Target[];
}

/** One run of a contender under a workload. */
export interface Run {
  contender: string;
  workload: string;
  connections: number;
  /** Number of the round with the same contender and workload, from 1. */
  round: number;
  /** Why the run does not count: oversold, lost or unfinished registrations. Absent if it counts. */
  discarded?: string;
  /** Length of the load, without warm-up and drain. */
  seconds: number;
  /** Requests answered with HTTP 200. */
  accepted: number;
  /** Other answers by HTTP status ("cut" for a connection that ended). */
  refused: Record<string, number>;
  /** Expected answers per second, including "sold out". */
  acceptedPerSecond: number;
  /** Accepted registrations divided by the time until the last one was finalized. Absent if nothing is registered. */
  finalizedPerSecond?: number;
  /** Time from the end of the load until everything was finalized. */
  drainSeconds?: number;
  /** Time from the send (in an open loop: the scheduled send) to the answer. */
  latencyMs: { p50: number; p90: number; p99: number; max: number };
  /** Time from the commit to the finalization. */
  waitMs?: { p50: number; p99: number };
  /** CPU time of each part, load and drain, per expected answer. Absent without /proc. */
  cpuMicros?: Partial<Record<Part | 'total', number>>;
  /** CPU time of the load generator per expected answer. */
  generatorCpuMicros?: number;
  /** Resident memory of each part at the end of the load. */
  residentMiB?: Partial<Record<Part, number>>;
  /** Bytes that Postgres wrote per registration: to the database with indexes, and to the write-ahead log. */
  diskBytes?: { database: number; log: number };
}

/** A figure of an installation with its own bound. */
export interface Figure {
  name: string;
  unit: string;
  /** One value for each round. The target applies to their median. */
  rounds: number[];
  atLeast?: number;
  atMost?: number;
}

/** Webhooks that send registrations from before the measurement. */
export interface WebhookDrain {
  name: 'one receiver' | 'five receivers' | 'five receivers beside five bad ones';
  /** Number of the round with the same name, from 1. */
  round: number;
  /** Registrations sent to all healthy receivers together. */
  registrations: number;
  messages: number;
  /** Time from the first message to the last. */
  seconds: number;
  perSecond: number;
  /** CPU time per registration that was sent. */
  cpuMicros: Record<'delivery' | 'postgres', number>;
}

/** Lists of registrations from a long history. */
export interface History {
  /** Its number of events and partners. */
  name: string;
  registrations: number;
  /** Segments of the journal per registration, and their bytes with all indexes. */
  segments: number;
  journalBytes: number;
  /** Entries per timed page. */
  pageSize: number;
  /** Through the API, from the beginning and from cursors throughout the history. */
  firstPageMs: { p50: number; p99: number };
  anyPageMs: { p50: number; p99: number };
  reads: HistoryReads;
  /** How an operator finds attendees of one of the events. */
  finds: HistoryFinds;
  /** The export of one of the events; null if it is very small or very large. */
  exported: HistoryExport | null;
}

/** An export by the operator's command, with the start of its process. */
export interface HistoryExport {
  rows: number;
  seconds: number;
  peakMiB: number;
}

/** Times of a statement that returns attendees. */
export interface HistoryFinds {
  /** Attendees that the worker indexes per second. */
  indexedPerSecond: number;
  /** By the beginning of a name and of an address, of one event and of all. */
  ofEventMs: { p50: number; p99: number };
  ofAllMs: { p50: number; p99: number };
  /** 100 attendees from any place of the list. */
  pageMs: { p50: number; p99: number };
}

/** Postgres's reads while a partner reads all its entries. */
export interface HistoryReads {
  /** Entries that the partner receives, and pages that it requests. */
  returned: number;
  requests: number;
  /** Rows that Postgres fetches from the journal and from registrations. */
  segments: number;
  registrations: number;
  /** Pages of these two tables in bytes. A page counts once for each fetched row. */
  bytes: number;
}

/** Floodgate on a Citus cluster, compared with the same load on one Postgres of the same version. */
export interface Citus {
  versions: Record<string, string>;
  /** Servers with shards, without the coordinator. */
  workers: number;
  shards: number;
  runs: CitusRun[];
  /** Absent if no server could be crashed. */
  nodeStop?: NodeStop;
}

export interface CitusRun {
  engine: 'Citus' | 'Citus, entered by its workers' | 'plain Postgres';
  /** Four simultaneous launches in different shards, or an even load on two events in every shard. */
  load: 'launches' | 'everywhere';
  /** Number of the round with the same engine, from 1. */
  round: number;
  /** Registrations per second. */
  perSecond: number;
  /** CPU time per registration, load and drain. Plain Postgres runs on the coordinator's server. */
  cpuMicros: Record<'coordinator' | 'workers' | 'apis' | 'worker' | 'redis', number>;
  /** Mean number of registrations per batch. */
  batchSize: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers other than "00". */
  failed: number;
  /** Empty if the books balance. */
  fault: string;
}

/** A server of the cluster that crashed under load and returned. */
export interface NodeStop {
  /** Rate of all events, evenly distributed. */
  perSecond: number;
  /** How long the server was down. */
  seconds: number;
  /** Answers for the events of other servers, before the crash and while the server was down. */
  living: Record<'before' | 'away', { perSecond: number; answers: Record<string, number>; p99Ms: number }>;
  /** Answers for its own events while it was down, by response code. */
  deadAnswers: Record<string, number>;
  deadP99Ms: number;
  lost: number;
  doubled: number;
  fault: string;
}

/** Cost of finalization in microseconds of CPU time per registration. NaN if the system does not report it. */
export interface Finalization {
  /** e.g. "1,000 events". */
  load: string;
  /** Number of the round with the same load, from 1. */
  round: number;
  /** Registrations per second while finalization runs concurrently. */
  perSecond: number;
  /** CPU time of worker and Redis in that phase. */
  underLoad: Record<'worker' | 'redis', number>;
  /** Registrations that were finalized after their load, without other work, and the CPU time for that. */
  registered: number;
  drained: Record<'worker' | 'redis' | 'postgres', number>;
  /** Segments of the journal per registration, and their bytes with all indexes. */
  segments: number;
  journalBytes: number;
  /** Empty if the books balance. */
  fault: string;
}

/** Memory over a long run under steady load. */
export interface Soak {
  description: string;
  samples: { second: number; residentMiB: Partial<Record<Part, number>> }[];
}

/** Results of an open-loop load at three times the sustainable rate. */
export interface Overload {
  /** The first bottleneck of the service. */
  bottleneck: 'Postgres' | 'CPU';
  /** Peak rate of a closed loop immediately before. */
  peakPerSecond: number;
  /** Scheduled, sent and accepted requests per second after the queue was full. */
  offeredPerSecond: number;
  sentPerSecond: number;
  acceptedPerSecond: number;
  /** Delay of the send after the schedule. If it is long, the generator is the bottleneck. */
  sendLagP99Ms: number;
  /** From the scheduled arrival to the answer. */
  acceptedMs: { p50: number; p99: number };
  refusedMs: { p50: number; p99: number };
  /** Requests during the overload by response code. */
  answers: Record<string, number>;
  refusedWithoutRetryAfter: number;
  /** Time from the end of the overload until half the peak is served as before: no 90, and the same latency. */
  recoverySeconds: number;
  /** Resident memory of the API: before, maximum, and after. */
  apiMiB: { before: number; max: number; after: number };
  /** CPU time of the generator, in cores. */
  generatorCores: number;
  /** Empty if the books balance. */
  fault: string;
}

/** The answers to a partner. */
export interface Served {
  /** Share of "00". */
  share: number;
  /** Time from the scheduled arrival to the "00". */
  p50Ms: number;
  p99Ms: number;
}

/** A partner next to another one that uses all capacity, and alone. */
export interface Fairness {
  /** The other partner's load: ten times the service's peak, or as many bulk calls as are answered. */
  name: 'a flood of single calls' | 'nothing but full bulk calls';
  /** Number of the round with the same name, from 1. */
  round: number;
  /** Peak rate of single calls immediately before. */
  peakPerSecond: number;
  /** The partner's rate. */
  perSecond: number;
  alone: Served;
  beside: Served;
  /** Answered calls of the other partner, and those with "00". */
  otherPerSecond: number;
  otherServed: number;
  /** Empty if the books balance. */
  fault: string;
}

/** A partner next to a hostile one, and alone before. */
export interface Hostile {
  /** The hostile partner's requests. */
  name: string;
  /** Number of the round with the same name, from 1. */
  round: number;
  alone: Served & { maxMs: number };
  beside: Served & { maxMs: number };
  /** Answered calls of the hostile partner, and those with HTTP 200. */
  otherPerSecond: number;
  otherServed: number;
  /** Maximum resident memory of the API, less that before. */
  addedMiB: number;
}

/** A server that crashed under load and returned. */
export interface Outage {
  name: 'Redis, with its data' | 'Redis, emptied' | 'Postgres';
  seconds: number;
  perSecond: number;
  /** All requests before, during and after the outage, by response code. */
  answers: Record<string, number>;
  /** The slowest answer, from the scheduled arrival. */
  slowestMs: number;
  /** Registrations that were answered "00" and not stored. */
  lost: number;
  /** Registrations that were stored twice, or stored although the answer denied it. */
  doubled: number;
  /** Time from the server's return until every request is answered "00". */
  servedAfterSeconds: number;
  /** Time from the server's return until all earlier registrations are confirmed. */
  confirmedAfterSeconds: number;
  apiMiB: { before: number; max: number; after: number };
  /** Empty if the books balance. */
  fault: string;
}

/** The median of several figures, with their range. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** One start of an API under one hot ticket, and the work of V8's garbage collector. */
export interface Start {
  /** V8 flags in addition to the API's own, or an empty text. */
  flags: string;
  /** Number of the round with the same flags, from 1. */
  round: number;
  /** Bytes freed by a scavenge ÷ bytes allocated since the previous collection (the new space). */
  freedShare: { median: number; worst: number };
  scavenges: number;
  /** Median. */
  scavengeMs: number;
  markCompacts: number;
  apiCpuMicros: number;
  perSecond: number;
  p99Ms: number;
  apiMiB: number;
}

/** This checkout ÷ another one under one workload, from neighbouring runs. */
export interface CheckoutComparison {
  workload: string;
  pairs: number;
  rate: Spread;
  p50: Spread;
  p99: Spread;
  /** CPU time per answer. Absent if a part used almost none, or the system does not report it. */
  cpu: Partial<Record<Part, Spread>>;
}

/** Floodgate against another contender under one workload, from neighbouring runs (A B B A …). */
export interface Comparison {
  workload: string;
  connections: number;
  contender: string;
  pairs: number;
  /** Floodgate's rate divided by the contender's. */
  ratio: Spread;
}

export interface Target {
  name: string;
  /** e.g. "≥ 25". */
  wanted: string;
  measured: number;
  unit: string;
  met: boolean;
}
