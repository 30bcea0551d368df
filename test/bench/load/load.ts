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
  seconds: number;
  /**
   * Open loop: requests per second that arrive by a clock of their own (a Poisson process), whether or not earlier
   * ones are answered. Absent: closed loop, each connection sends as soon as it is answered.
   */
  arrivalsPerSecond?: number;
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
}

export const OK = '200';

type Answers = Pick<LoadResult, 'answers'>;

/** Answers of one status. */
export const answersOf = (result: Answers, status: string): number => result.answers[status] ?? 0;

export const totalAnswers = (result: Answers): number =>
  Object.values(result.answers).reduce((sum, count) => sum + count, 0);
