import type { createTally, RequestRecorder } from './tally.ts';

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
   * Open loop: rate of a Poisson process, independent of answers. Absent: closed loop, in which each
   * connection sends after each answer.
   */
  arrivalsPerSecond?: number;
  /**
   * Opens all connections before the load and sends this request once on each, like partners with open
   * connections. (A server may close a connection without requests.)
   */
  greeting?: RequestShape;
  /** Open loop with a changing rate: consecutive phases, in place of `seconds` and `arrivalsPerSecond`. */
  phases?: Phase[];
  /**
   * Open loop: a request without a connection for this time is not sent, because its caller has left. Absent:
   * no limit.
   */
  patienceMs?: number;
  /**
   * Records every request in `LoadResult.log` and numbers requests: replaces NUMBER in a body by a number
   * from 0, with as many digits.
   */
  logged?: true;
}

/** A phase of an open loop. */
export type Phase = Record<'seconds' | 'perSecond', number>;

/** Placeholder for the number of a request, of the same length. */
export const NUMBER = '#########';

/** The outcome of every request in columns, by the request's number. Times are in ms since the first phase. */
export type RequestLog = ReturnType<RequestRecorder['log']>;

/** A load so far. */
export type LoadProgress = Record<'sent' | 'answered', number>;

/** The result of a load. It has a log if the load requests it. */
export type LoadResult = ReturnType<ReturnType<typeof createTally>['result']> & { log?: RequestLog };

export const OK = '200';

type Answers = Pick<LoadResult, 'answers'>;

/** Returns the number of answers with a status. */
export const answersOf = (result: Answers, status: string) => result.answers[status] ?? 0;

export const totalAnswers = (result: Answers) =>
  Object.values(result.answers).reduce((sum, count) => sum + count, 0);
