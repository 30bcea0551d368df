import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { NUMBER } from './load.ts';

/** Limit of the wait for missing answers after the load. */
const LAST_ANSWERS_MS = 10_000;
const CHECK_MS = 1;

const createTimes = () => createHistogram({ highest: 60_000_000, figures: 3 });

const record = (times: RecordableHistogram, ms: number) => times.record(Math.max(1, Math.round(ms * 1000)));

/** Returns a tally that counts the answers of a load that starts now, and records their latencies. */
export function createTally() {
  const startedAt = performance.now();
  const cpuAtStart = process.cpuUsage();
  const answers: Record<string, number> = {};
  const latencies = createTimes();
  const delays = createTimes();
  let lastAnswerAt = 0;
  return {
    startedAt,
    add(status: string, sentAt: number) {
      lastAnswerAt = performance.now();
      answers[status] = (answers[status] ?? 0) + 1;
      record(latencies, lastAnswerAt - sentAt);
    },
    /** Records how far the generator is behind its schedule. */
    addDelay: (ms: number) => record(delays, ms),
    /** Waits for missing answers. Counts those that do not arrive as "none". */
    async waitForLast(missing: () => number) {
      const endsAt = performance.now() + LAST_ANSWERS_MS;
      while (missing() > 0 && performance.now() < endsAt) await delay(CHECK_MS);
      if (missing() > 0) answers['none'] = missing();
    },
    /** Returns the result of a load that was requested for this time. */
    result(seconds: number) {
      const { user, system } = process.cpuUsage(cpuAtStart);
      const endedAt = Math.max(startedAt + seconds * 1000, lastAnswerAt);
      const at = (percentile: number) => latencies.percentile(percentile) / 1000;
      return {
        /** Time from the first send to the last answer, at least the requested time. */
        seconds: (endedAt - startedAt) / 1000,
        /** End of that time, in milliseconds since the epoch. */
        endedAt: performance.timeOrigin + endedAt,
        /** Answers by HTTP status, or "cut" if the connection ended. */
        answers,
        /**
         * Time from the send to the answer; in an open loop from the scheduled arrival, so that a stall
         * counts for all waiting requests.
         */
        latencyMs: { p50: at(50), p90: at(90), p99: at(99), max: latencies.max / 1000 },
        /** CPU time of the generator. */
        cpuMicros: user + system,
        /** Open loop: how far the generator was behind its schedule, the 99th percentile in milliseconds. */
        lateMs: delays.percentile(99) / 1000,
      };
    },
  };
}

const CODE = Buffer.from('"responseCode":"');
const REFERENCE = /"responseData":"([^"]+)"/;
const RETRY_AFTER = /^retry-after: *(\S+)/im;

export type RequestRecorder = ReturnType<typeof createRecorder>;

/**
 * Returns a recorder of the outcome of each request. `requests` are the texts to send cyclically. NUMBER in a
 * text stands for the request's number.
 */
export function createRecorder(requests: readonly Buffer[]) {
  const numberAt = new Map(requests.map((request) => [request, request.indexOf(NUMBER)]));
  const dueAt: number[] = [];
  const sentAt: number[] = [];
  const answeredAt: number[] = [];
  const codes: string[] = [];
  const details: string[] = [];
  return {
    arrived(at: number) {
      dueAt.push(at);
      sentAt.push(Number.NaN);
      answeredAt.push(Number.NaN);
      codes.push('none');
      details.push('');
    },
    /** Returns the text of the request with this number. */
    sending(number: number, request: Buffer) {
      sentAt[number] = performance.now();
      const at = numberAt.get(request)!;
      if (at < 0) return request;
      const numbered = Buffer.from(request);
      numbered.write(String(number).padStart(NUMBER.length, '0'), at, 'latin1');
      return numbered;
    },
    gone: (number: number) => (codes[number] = 'gone'),
    answered(number: number, status: string, piece: Buffer) {
      answeredAt[number] = performance.now();
      const at = piece.indexOf(CODE);
      const code = at < 0 ? status : piece.toString('latin1', at + CODE.length, at + CODE.length + 2);
      codes[number] = code;
      details[number] = (code === '00' ? REFERENCE : RETRY_AFTER).exec(piece.toString('latin1'))?.[1] ?? '';
    },
    /** Returns the log, with times since `startedAt`. */
    log(startedAt: number) {
      const since = (times: number[]) => Float64Array.from(times, (at) => at - startedAt);
      return {
        /** Start of the first phase, in milliseconds since the epoch. */
        startedAt: performance.timeOrigin + startedAt,
        /** Scheduled arrival. */
        dueAt: since(dueAt),
        /** Time of the send: later than scheduled if no connection was free or the generator was delayed. */
        sentAt: since(sentAt),
        answeredAt: since(answeredAt),
        /**
         * Response code, or "cut" if the connection ended, "none" without an answer, "gone" if the request
         * was not sent.
         */
        code: codes,
        /** The pass reference of a "00", otherwise the value of Retry-After or an empty text. */
        detail: details,
      };
    },
  };
}
