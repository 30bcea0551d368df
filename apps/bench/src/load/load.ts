/** One HTTP request, as it is sent. */
export interface RequestShape {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What a load generator is told to do. */
export interface Load {
  baseUrl: string;
  /** Sent in turn, over and over. */
  requests: RequestShape[];
  /** In a closed loop all of them are busy all the time. In an open loop: opened as they are needed, up to this many. */
  connections: number;
  /** Closed loop: a connection that the server has closed is opened again. */
  reconnects?: true;
  seconds: number;
  /**
   * Open loop: requests per second that arrive by a clock of their own (a Poisson process), whether or not earlier
   * ones are answered. Absent: closed loop, each connection sends as soon as it is answered.
   */
  arrivalsPerSecond?: number;
  /**
   * All connections are opened before the load begins and this is sent once on each: partners that have kept theirs.
   * (A server may close a connection on which nothing was ever asked.)
   */
  greeting?: RequestShape;
  /** Open loop whose rate changes: one after the other, in place of `seconds` and `arrivalsPerSecond`. */
  phases?: Phase[];
  /** Open loop: what found no connection within this time is not sent any more; who asked has gone. Absent: never. */
  patienceMs?: number;
  /**
   * Tells in `LoadResult.log` what became of every single request, and numbers them: NUMBER in a body is replaced by
   * a number of that many digits, from 0.
   */
  logged?: true;
}

/** A stretch of an open loop. */
export interface Phase {
  seconds: number;
  perSecond: number;
}

/** Where the number of a request goes, as long as the numbers are. */
export const NUMBER = '#########';

/** What became of every request, one column each, by the request's number. Times count in ms from the first phase. */
export interface RequestLog {
  /** When the first phase began, in milliseconds since the epoch. */
  startedAt: number;
  /** When it was scheduled to arrive. */
  dueAt: Float64Array;
  /** When it was sent: later where no connection was free, or where the generator did not get to run. */
  sentAt: Float64Array;
  answeredAt: Float64Array;
  /** Response code; "cut" where the connection ended instead, "none" where no answer ever came, "gone" where it was not sent. */
  code: string[];
  /** The pass reference of a "00"; otherwise the value of Retry-After. Empty where there is none. */
  detail: string[];
}

/** What became of it. */
export interface LoadResult {
  /** Time from the first send to the last answer, and at least as long as was asked for. */
  seconds: number;
  /** When that time ended, in milliseconds since the epoch. */
  endedAt: number;
  /** Answers by HTTP status; "cut" where the connection ended instead. */
  answers: Record<string, number>;
  /** From the send to the answer; in an open loop from the scheduled arrival, so that a stall counts for all who wait. */
  latencyMs: { p50: number; p90: number; p99: number; max: number };
  /** CPU time that generating the load took. */
  cpuMicros: number;
  /** Where the load asked for it. */
  log?: RequestLog;
}

export const OK = '200';

type Answers = Pick<LoadResult, 'answers'>;

/** Answers of one status. */
export const answersOf = (result: Answers, status: string): number => result.answers[status] ?? 0;

export const totalAnswers = (result: Answers): number =>
  Object.values(result.answers).reduce((sum, count) => sum + count, 0);
