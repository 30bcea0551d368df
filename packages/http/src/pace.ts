import { systemClock, type Clock } from '@floodgate/service/clock';

/** Answers per second, and answers that are given without a wait after a calm second. */
const PER_SECOND = 1_000;
const BURST = 200;
const TURN_MS = 10;
const PER_TURN = (PER_SECOND * TURN_MS) / 1_000;
/**
 * A caller can send many requests without waiting for answers, so memory needs a bound. Answers beyond it do
 * not wait.
 */
const WAITING_LIMIT = 2_000;

/**
 * Returns a function that calls `answer` immediately or, if more than PER_SECOND answers per second are due,
 * in its turn. It is for refusals to callers that nobody knows. Such a caller sends its next request when it
 * has the answer, so without a pace a hundred of them would use the whole process.
 */
export function createPace(clock: Clock = systemClock) {
  const waiting: (() => void)[] = [];
  let permits = BURST;
  let countedAt = clock.now();

  /** Returns how many answers may be given now. */
  function countPermits() {
    const now = clock.now();
    permits = Math.min(BURST, permits + ((now - countedAt) * PER_SECOND) / 1_000);
    countedAt = now;
    return Math.floor(permits);
  }

  function takeTurn() {
    const due = waiting.splice(0, Math.min(PER_TURN, countPermits()));
    permits -= due.length;
    for (const answer of due) answer();
    if (waiting.length > 0) clock.setTimeout(takeTurn, TURN_MS);
  }

  return (answer: () => void): void => {
    if (waiting.length >= WAITING_LIMIT) return answer();
    if (waiting.length === 0 && countPermits() > 0) {
      permits -= 1;
      return answer();
    }
    waiting.push(answer);
    if (waiting.length === 1) clock.setTimeout(takeTurn, TURN_MS);
  };
}
