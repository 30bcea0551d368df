import { TooManyReads } from '@floodgate/database';
import { createSlots } from '@floodgate/service';

export interface TurnsOptions {
  /** What takes longer waits for somebody else, and keeps nobody waiting. */
  patienceMs: number;
  /** How long a caller waits for the end of its work, its turn included. */
  answerWithinMs: number;
  /** How many of one party may wait. */
  waitingLimit: number;
}

/** Work that waits for its turn. */
interface Turn {
  take: () => Promise<void>;
  isWanted: () => boolean;
}

// One for all: capturing a stack for each refusal would help whoever sends too much.
const TOO_LATE = new TooManyReads('too many lists are waiting');

/**
 * Runs one piece of work at a time. The parties that wait take turns, so that many pieces of one keep those of another waiting
 * for no more than one each.
 */
export function createTurns({ patienceMs, answerWithinMs, waitingLimit }: TurnsOptions) {
  const inSlot = createSlots(1, patienceMs);
  /** By party. The one whose turn is next comes first. */
  const waiting = new Map<number, Set<Turn>>();
  let isInLine = false;

  function enter(party: number, turn: Turn): boolean {
    const turns = waiting.get(party) ?? new Set();
    if (turns.size >= waitingLimit) return false;
    waiting.set(party, turns.add(turn));
    return true;
  }

  function leave(party: number, turn: Turn): void {
    const turns = waiting.get(party);
    turns?.delete(turn);
    if (turns?.size === 0) waiting.delete(party);
  }

  /** Takes out who is next. What nobody waits for any longer is passed over. */
  function next(): Turn | undefined {
    for (const [party, turns] of waiting) {
      waiting.delete(party);
      for (const turn of turns) {
        turns.delete(turn);
        if (!turn.isWanted()) continue;
        // Behind the others.
        if (turns.size > 0) waiting.set(party, turns);
        return turn;
      }
    }
    return undefined;
  }

  function standInLine(): void {
    if (isInLine || waiting.size === 0) return;
    isInLine = true;
    void inSlot(async () => {
      isInLine = false;
      const turn = next();
      standInLine();
      await turn?.take();
    });
  }

  /**
   * Runs the party's work when its turn has come, and settles as it does. Rejects with TooManyReads where too many of its own
   * wait already, and where the work has not ended in time. What is no longer wanted when its turn comes is not run.
   */
  return function run<Result>(
    party: number,
    isWanted: () => boolean,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const turn: Turn = { isWanted, take: () => work().then(resolve, reject) };
    if (!enter(party, turn)) return Promise.reject(TOO_LATE);
    const timer = setTimeout(() => {
      leave(party, turn);
      reject(TOO_LATE);
    }, answerWithinMs);
    standInLine();
    return promise.finally(() => clearTimeout(timer));
  };
}
