/** An HTTP request. */
export interface RequestShape {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Instructions for a load generator. */
export interface Load {
  baseUrl: string;
  /** Requests to send, cyclically. */
  requests: RequestShape[];
  /** Closed loop: all connections are always busy. Open loop: limit of connections, which are opened on demand. */
  connections: number;
  /** Closed loop: reopens a connection that the server has closed. */
  reconnects?: true;
  seconds: number;
  /**
   * Open loop: rate of a Poisson process, independent of answers. Absent: closed loop, in which each connection sends after each
   * answer.
   */
  arrivalsPerSecond?: number;
  /**
   * Opens all connections before the load and sends this request once on each, like partners with open connections. (A server may close a
   * connection without requests.)
   */
  greeting?: RequestShape;
  /** Open loop with a changing rate: consecutive phases, in place of `seconds` and `arrivalsPerSecond`. */
  phases?: Phase[];
  /** Open loop: a request without a connection for this time is not sent, because its caller has left. Absent: no limit. */
  patienceMs?: number;
  /**
   * Records every request in `LoadResult.log` and numbers requests: replaces NUMBER in a body by a number from 0, with as many digits.
   */
  logged?: true;
}

/** A phase of an open loop. */
export interface Phase {
  seconds: number;
  perSecond: number;
}

/** Placeholder for the number of a request, of the same length. */
export const NUMBER = '#########';

/** The outcome of every request in columns, by the request's number. Times are in ms since the first phase. */
export interface RequestLog {
  /** Start of the first phase, in milliseconds since the epoch. */
  startedAt: number;
  /** Scheduled arrival. */
  dueAt: Float64Array;
  /** Time of the send: later than scheduled if no connection was free or the generator was delayed. */
  sentAt: Float64Array;
  answeredAt: Float64Array;
  /** Response code, or "cut" if the connection ended, "none" without an answer, "gone" if the request was not sent. */
  code: string[];
  /** The pass reference of a "00", otherwise the value of Retry-After or an empty text. */
  detail: string[];
}

/** An open loop so far. */
export interface LoadProgress {
  sent: number;
  answered: number;
}

/** The result of a load. */
export interface LoadResult {
  /** Time from the first send to the last answer, at least the requested time. */
  seconds: number;
  /** End of that time, in milliseconds since the epoch. */
  endedAt: number;
  /** Answers by HTTP status, or "cut" if the connection ended. */
  answers: Record<string, number>;
  /** Time from the send to the answer; in an open loop from the scheduled arrival, so that a stall counts for all waiting requests. */
  latencyMs: { p50: number; p90: number; p99: number; max: number };
  /** CPU time of the generator. */
  cpuMicros: number;
  /** Open loop: how far the generator was behind its schedule, the 99th percentile in milliseconds. */
  lateMs: number;
  /** Present if the load requests it. */
  log?: RequestLog;
}

export const OK = '200';

type Answers = Pick<LoadResult, 'answers'>;

/** Returns the number of answers with a status. */
export const answersOf = (result: Answers, status: string): number => result.answers[status] ?? 0;

export const totalAnswers = (result: Answers): number =>
  Object.values(result.answers).reduce((sum, count) => sum + count, 0);
