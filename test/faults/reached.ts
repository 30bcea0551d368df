import type { CallRecord } from './history.ts';

// What a round has met: which states things were in while a fault lasted. A campaign that misses one of the
// listed pairs of fault and state has not shown what it is for, and fails.

/** From when to when something lasted, in milliseconds since the round began. */
export interface Span {
  from: number;
  to: number;
}

/** A fault of the round, until everything was mended. */
export interface Struck extends Span {
  fault: string;
}

/** What a round has recorded and stored, of which pairs are recognised. */
export interface Facts {
  struck: readonly Struck[];
  calls: readonly CallRecord[];
  /** When holds ended that nobody had confirmed or given back. */
  expiredAt: readonly number[];
  /** From the commit of a batch to its finalization. */
  batches: readonly Span[];
  /** From an offer to its end. */
  offers: readonly Span[];
  /** E-mails that were leased when a fault began and when it ended, without a renewal. */
  leasedThroughout: number;
  /** E-mails that waited for their next attempt when a fault began. */
  waitedForRetry: number;
  /** E-mails whose lease expired, because the process with the lease had died. */
  leasesLost: number;
  /** E-mails and webhooks that came a second time as the same message: sent, and not recorded. */
  mailsTwice: number;
  webhooksTwice: number;
}

/** How often a state was met in a span of time. */
type State = (facts: Facts, during: Span) => number;

const overlaps = (one: Span, other: Span) => one.from <= other.to && one.to >= other.from;
const countIn = (spans: readonly Span[], during: Span) => spans.filter((one) => overlaps(one, during)).length;
const spanOf = ({ start, end }: CallRecord): Span => ({ from: start, to: end ?? Infinity });

/** Calls of a kind that were in flight. */
const inFlight =
  (...kinds: string[]): State =>
  ({ calls }, during) =>
    countIn(calls.filter(({ call }) => kinds.includes(call)).map(spanOf), during);

const isOffer = ({ call, id }: CallRecord) => id !== undefined && (call === 'confirm' || call === 'leave');

/** Calls with an unknown outcome that were repeated until there was an answer. */
const unknownThenAnswered: State = ({ calls }, during) => {
  const wanting = calls.filter(({ call }) => ['register', 'bulk', 'hold', 'replace'].includes(call));
  const byId = Map.groupBy(wanting, ({ seats }) => seats[0]!.id);
  const isUnknown = (one: CallRecord) =>
    (one.answer === null || one.answer === '91') && overlaps(spanOf(one), during);
  return [...byId.values()].filter((all) => all.some(isUnknown) && all.at(-1)!.answer === '00').length;
};

export const STATES = {
  'registration in flight': inFlight('register'),
  'bulk call in flight': inFlight('bulk'),
  'basket in flight': inFlight('hold'),
  'confirmation in flight': inFlight('confirm'),
  'release in flight': inFlight('release'),
  'cancellation in flight': inFlight('cancel'),
  'change of attendee in flight': inFlight('replace'),
  'reset in flight': inFlight('reset'),
  'joining of a waiting list in flight': inFlight('join'),
  'answer to an offer in flight': ({ calls }, during) => countIn(calls.filter(isOffer).map(spanOf), during),
  'unknown outcome, repeated': unknownThenAnswered,
  'hold expired': ({ expiredAt }, { from, to }) => expiredAt.filter((at) => at >= from && at <= to).length,
  'offer open': ({ offers }, during) => countIn(offers, during),
  'offer made': ({ offers }, { from, to }) =>
    offers.filter((one) => one.from >= from && one.from <= to).length,
  'batch pending': ({ batches }, during) => countIn(batches, during),
  'e-mail leased': ({ leasedThroughout }) => leasedThroughout,
  'e-mail leased, lease lost': ({ leasesLost }) => leasesLost,
  'e-mail sent, not recorded': ({ mailsTwice }) => mailsTwice,
  'e-mail waiting for a retry': ({ waitedForRetry }) => waitedForRetry,
  'webhook sent, not recorded': ({ webhooksTwice }) => webhooksTwice,
} satisfies Record<string, State>;

export type StateName = keyof typeof STATES;

/** Calls of every kind. */
const CALLS: readonly StateName[] = [
  'registration in flight',
  'bulk call in flight',
  'basket in flight',
  'confirmation in flight',
  'cancellation in flight',
  'change of attendee in flight',
];

/** Faults that take Postgres away: whatever lasts then has to outlast it. */
const POSTGRES_AWAY: readonly StateName[] = [
  ...CALLS,
  'joining of a waiting list in flight',
  'answer to an offer in flight',
  'hold expired',
  'offer open',
  'batch pending',
];

/** The states that each fault has to meet in a campaign of the evidence tier. */
export const PAIRS: Record<string, readonly StateName[]> = {
  'Postgres crashed': [...POSTGRES_AWAY, 'reset in flight'],
  'Postgres frozen': POSTGRES_AWAY,
  'wire to Postgres: reset': POSTGRES_AWAY,
  'wire to Postgres: half-open': [...POSTGRES_AWAY, 'unknown outcome, repeated'],
  'wire to Postgres: cut between commit and answer': [...CALLS, 'batch pending'],
  'wire to partners: answers lost': ['registration in flight', 'unknown outcome, repeated'],
  'Redis killed, comes back empty': ['registration in flight', 'hold expired', 'offer open', 'batch pending'],
  'API killed': [...CALLS, 'release in flight', 'answer to an offer in flight', 'unknown outcome, repeated'],
  'worker killed': ['hold expired', 'offer open', 'offer made', 'batch pending'],
  'delivery process killed': ['e-mail leased, lease lost', 'e-mail waiting for a retry'],
  'delivery process frozen': ['e-mail leased', 'e-mail waiting for a retry'],
  "partner's receiver away": ['webhook sent, not recorded'],
  'SMTP server away': ['e-mail waiting for a retry'],
  'rolling restart': [...CALLS, 'answer to an offer in flight', 'offer open', 'batch pending'],
  'worker node crashed': [...CALLS, 'hold expired', 'batch pending'],
  'worker node killed': [...CALLS, 'hold expired', 'batch pending'],
  'worker node partitioned: reset': [...CALLS, 'hold expired', 'batch pending'],
  'worker node partitioned: half-open': ['registration in flight', 'confirmation in flight', 'batch pending'],
};

/** How often each pair was met, by fault and state. */
export type Reached = Record<string, Partial<Record<StateName, number>>>;

/** Counts the listed pairs that a round has met. */
export function countReached(facts: Facts): Reached {
  const reached: Reached = {};
  for (const during of facts.struck)
    for (const state of PAIRS[during.fault] ?? [])
      (reached[during.fault] ??= {})[state] = STATES[state](facts, during);
  return reached;
}

export const sumReached = (rounds: readonly Reached[]): Reached => {
  const sum: Reached = {};
  for (const [fault, states] of rounds.flatMap((reached) => Object.entries(reached)))
    for (const [state, count] of Object.entries(states) as [StateName, number][])
      (sum[fault] ??= {})[state] = (sum[fault]?.[state] ?? 0) + count;
  return sum;
};

/** A pair that no round has met. */
export interface Missed {
  fault: string;
  state: StateName;
}

/** The listed pairs of these faults that were not met. */
export const missedOf = (faults: readonly { name: string }[], reached: Reached): Missed[] =>
  faults.flatMap(({ name: fault }) =>
    (PAIRS[fault] ?? []).filter((state) => !reached[fault]?.[state]).map((state) => ({ fault, state })),
  );

/** The pairs as a Markdown table, with how often each was met. */
export function reachedTable(reached: Reached): string {
  const rows = Object.entries(reached).flatMap(([fault, states]) =>
    Object.entries(states).map(([state, count]) => `| ${fault} | ${state} | ${count} |`),
  );
  return ['| fault | while it lasted | times |', '| --- | --- | --- |', ...rows.toSorted()].join('\n');
}
