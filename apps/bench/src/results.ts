import type { Part } from './contenders/contender.ts';

/** Everything that a benchmark run found out: what `bench-results/<time>.json` holds. */
export interface BenchResults {
  /** ISO 8601. */
  startedAt: string;
  /** The command that a reader can run, e.g. `npm run bench -- --quick`. */
  command: string;
  /** Git commit, with "-dirty" where the tree was changed; null outside a checkout. */
  commit: string | null;
  machine: { cpu: string; cores: number; memoryGiB: number; os: string };
  versions: Record<string, string>;
  /** Name and one line of description of each contender, in the order of the report. */
  contenders: { name: string; description: string }[];
  /** In the order of the report. Where the load is `paced`, it sets the rate, and latency is what tells. */
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
  /** What Floodgate aims at, and whether this run shows it. */
  targets: Target[];
}

/** One contender under one workload, once. */
export interface Run {
  contender: string;
  workload: string;
  connections: number;
  /** Counts from 1 within the same contender and workload. */
  round: number;
  /** Why the run does not count: oversold, lost or unfinished registrations. Absent where it counts. */
  discarded?: string;
  /** Length of the load, without warm-up and without the time to drain. */
  seconds: number;
  /** Requests answered with HTTP 200. */
  accepted: number;
  /** Requests answered otherwise, by HTTP status ("cut" for a connection that ended). */
  refused: Record<string, number>;
  /** Answers per second that did what was asked, "sold out" among them. */
  acceptedPerSecond: number;
  /** Registrations accepted, over the time until the last of them was finalized. Absent where nothing is registered. */
  finalizedPerSecond?: number;
  /** From the end of the load until everything was finalized. */
  drainSeconds?: number;
  /** From the send (in open loop: from the scheduled send) to the answer. */
  latencyMs: { p50: number; p90: number; p99: number; max: number };
  /** From being stored to being finalized. */
  waitMs?: { p50: number; p99: number };
  /** CPU time of each part, load and drain, per such answer. Absent where the system does not tell (no /proc). */
  cpuMicros?: Partial<Record<Part | 'total', number>>;
  /** CPU time that the load generator itself took per such answer. */
  generatorCpuMicros?: number;
  /** Resident memory of each part at the end of the load. */
  residentMiB?: Partial<Record<Part, number>>;
  /** What Postgres wrote per registration: to the database, indexes included, and to the write-ahead log. */
  diskBytes?: { database: number; log: number };
}

/** A figure of an installation with a bound of its own. */
export interface Figure {
  name: string;
  unit: string;
  /** One value for each round. Their median is judged. */
  rounds: number[];
  atLeast?: number;
  atMost?: number;
}

/** Webhooks that tell of what was stored before. */
export interface WebhookDrain {
  name: 'one receiver' | 'five receivers' | 'five receivers beside five bad ones';
  /** Counts from 1 within the same name. */
  round: number;
  /** What all receivers that are well were told together. */
  registrations: number;
  messages: number;
  /** From the first message to the last. */
  seconds: number;
  perSecond: number;
  /** CPU time per registration that was told. */
  cpuMicros: Record<'delivery' | 'postgres', number>;
}

/** Lists out of a long history. */
export interface History {
  /** How many events and partners share it. */
  name: string;
  registrations: number;
  /** Segments of the journal, and their bytes with all indexes, per registration. */
  segments: number;
  journalBytes: number;
  /** Entries of a timed page. */
  pageSize: number;
  /** Through the API: from the beginning, and from cursors all over the history. */
  firstPageMs: { p50: number; p99: number };
  anyPageMs: { p50: number; p99: number };
  reads: HistoryReads;
}

/** What Postgres reads while one partner pulls all that is its own. */
export interface HistoryReads {
  /** Entries that it gets, and pages that it asks for. */
  returned: number;
  requests: number;
  /** Rows of the journal and of registrations that are fetched. */
  segments: number;
  registrations: number;
  /** Pages of these two tables, in bytes: a page counts as often as a row in it is fetched. */
  bytes: number;
}

/** Floodgate on a Citus cluster, beside the same load on one Postgres of the same version. */
export interface Citus {
  versions: Record<string, string>;
  /** Servers that hold shards, beside the coordinator. */
  workers: number;
  shards: number;
  runs: CitusRun[];
  /** Absent where nothing could end a server. */
  nodeStop?: NodeStop;
}

export interface CitusRun {
  engine: 'Citus' | 'Citus, entered by its workers' | 'plain Postgres';
  /** Four launches at once, each in a shard of its own, or two events in every shard, evenly. */
  load: 'launches' | 'everywhere';
  /** Counts from 1 within the same engine. */
  round: number;
  /** Registrations per second. */
  perSecond: number;
  /** CPU time per registration, load and drain; plain Postgres is the coordinator's server. */
  cpuMicros: Record<'coordinator' | 'workers' | 'apis' | 'worker' | 'redis', number>;
  /** Registrations in a batch, on average. */
  batchSize: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that are not "00". */
  failed: number;
  /** Empty where the books balance. */
  fault: string;
}

/** A server of the cluster that crashed under load and came back. */
export interface NodeStop {
  /** Of all events, evenly. */
  perSecond: number;
  /** How long it was away. */
  seconds: number;
  /** What the events of the other servers got: before the crash, and while it was away. */
  living: Record<'before' | 'away', { perSecond: number; answers: Record<string, number>; p99Ms: number }>;
  /** What its own events got while it was away, by response code. */
  deadAnswers: Record<string, number>;
  deadP99Ms: number;
  lost: number;
  doubled: number;
  fault: string;
}

/** What finalization costs per registration, in microseconds of CPU time; NaN where the system does not tell. */
export interface Finalization {
  /** e.g. "1,000 events". */
  load: string;
  /** Counts from 1 within the same load. */
  round: number;
  /** Registrations per second, while they were finalized as they came. */
  perSecond: number;
  /** What worker and Redis used meanwhile. */
  underLoad: Record<'worker' | 'redis', number>;
  /** Registrations that were finalized after their load, with nothing else under way; and what was used for that. */
  registered: number;
  drained: Record<'worker' | 'redis' | 'postgres', number>;
  /** Segments of the journal, and their bytes with all indexes, per registration. */
  segments: number;
  journalBytes: number;
  /** Empty where the books balance. */
  fault: string;
}

/** Memory over a long run under steady load. */
export interface Soak {
  description: string;
  samples: { second: number; residentMiB: Partial<Record<Part, number>> }[];
}

/** What became of three times the sustainable rate, which arrived whether or not anything was answered. */
export interface Overload {
  /** What the service runs into first. */
  bottleneck: 'Postgres' | 'CPU';
  /** The most that was accepted in a closed loop just before. */
  peakPerSecond: number;
  /** Scheduled, really sent, and accepted per second, once the waiting room was full. */
  offeredPerSecond: number;
  sentPerSecond: number;
  acceptedPerSecond: number;
  /** How much later than scheduled requests were sent: where this is long, the generator is the limit. */
  sendLagP99Ms: number;
  /** From the scheduled arrival to the answer. */
  acceptedMs: { p50: number; p99: number };
  refusedMs: { p50: number; p99: number };
  /** Requests during the overload by response code. */
  answers: Record<string, number>;
  refusedWithoutRetryAfter: number;
  /** From the end of the overload until half the peak is served as before: no 90, and answers as quick. */
  recoverySeconds: number;
  /** Resident memory of the API: before, at most, and after. */
  apiMiB: { before: number; max: number; after: number };
  /** CPU time that the generator took, in cores. */
  generatorCores: number;
  /** Empty where the books balance. */
  fault: string;
}

/** What a partner was answered. */
export interface Served {
  /** "00", of all. */
  share: number;
  /** From the scheduled arrival to the "00". */
  p50Ms: number;
  p99Ms: number;
}

/** A partner beside another one who takes all there is, and alone. */
export interface Fairness {
  /** What the other one sends: ten times as much as the service can do, or as much as is answered. */
  name: 'a flood of single calls' | 'nothing but full bulk calls';
  /** Counts from 1 within the same name. */
  round: number;
  /** Of single calls, just before. */
  peakPerSecond: number;
  /** What the partner asks for. */
  perSecond: number;
  alone: Served;
  beside: Served;
  /** Calls of the other one that were answered, and how many of them "00". */
  otherPerSecond: number;
  otherServed: number;
  /** Empty where the books balance. */
  fault: string;
}

/** A partner beside a hostile one, and alone before. */
export interface Hostile {
  /** What the hostile one sends. */
  name: string;
  /** Counts from 1 within the same name. */
  round: number;
  alone: Served & { maxMs: number };
  beside: Served & { maxMs: number };
  /** Calls of the hostile one that were answered, and how many of them with HTTP 200. */
  otherPerSecond: number;
  otherServed: number;
  /** Highest resident memory of the API meanwhile, less that before. */
  addedMiB: number;
}

/** A server that went away under load, and came back. */
export interface Outage {
  name: 'Redis, with its data' | 'Redis, emptied' | 'Postgres';
  seconds: number;
  perSecond: number;
  /** All requests, before, during and after, by response code. */
  answers: Record<string, number>;
  /** The slowest answer of all, from the scheduled arrival. */
  slowestMs: number;
  /** Answered "00" and not stored. */
  lost: number;
  /** Stored twice, or stored although the answer said that nothing was reserved. */
  doubled: number;
  /** From the server's return until every request is answered "00". */
  servedAfterSeconds: number;
  /** From the server's return until everything is confirmed that was accepted before it. */
  confirmedAfterSeconds: number;
  apiMiB: { before: number; max: number; after: number };
  /** Empty where the books balance. */
  fault: string;
}

/** A figure as the median of several, with their range. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** One start of an API under one hot ticket, and what V8's garbage collector did meanwhile. */
export interface Start {
  /** V8 flags beside the API's own; empty where there are none. */
  flags: string;
  /** Counts from 1 with the same flags. */
  round: number;
  /** What each scavenge freed ÷ what was allocated since the collection before: a new space full. */
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

/** This checkout ÷ another one under one workload, each figure by neighbouring runs. */
export interface CheckoutComparison {
  workload: string;
  pairs: number;
  rate: Spread;
  p50: Spread;
  p99: Spread;
  /** CPU time per answer; absent where a part hardly took any, or the system does not tell. */
  cpu: Partial<Record<Part, Spread>>;
}

/** Floodgate against another contender under one workload: ratios of neighbouring runs (A B B A …). */
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
