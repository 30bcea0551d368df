/**
 * Answers given before the event loop may read again what has arrived meanwhile: a share of those that are due, so that
 * they keep up however much arrives in a turn, and at least a few.
 */
const SHARE_PER_TURN = 1 / 4;
const MIN_ANSWERS_PER_TURN = 16;
/**
 * Node reads tens of thousands of sockets, if that many have something to say, before anything else gets its turn. A turn
 * also comes after so many refusals, so that those who are refused cannot keep those who are served from their answers.
 */
const REFUSALS_PER_TURN = 64;

/** Gives the answers that are due, in order, a share in each turn of the event loop. `onTurn` is called at the end of each turn. */
export function createAnswering(onTurn: () => void) {
  const answers: (() => void)[] = [];
  let isScheduled = false;
  let refusals = 0;

  function add(answer: () => void): void {
    answers.push(answer);
  }

  function takeTurn(): void {
    const share = Math.ceil(answers.length * SHARE_PER_TURN);
    for (const answer of answers.splice(0, Math.max(share, MIN_ANSWERS_PER_TURN))) answer();
    onTurn();
  }

  /** Sees to it that a turn comes: not at once, so that what arrives in the same turn of the event loop rides together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      takeTurn();
      if (answers.length > 0) schedule();
    });
  }

  /** Counts somebody who was refused. */
  function countRefusal(): void {
    refusals += 1;
    if (isScheduled && refusals % REFUSALS_PER_TURN === 0) takeTurn();
  }

  return { add, due: () => answers.length, isScheduled: () => isScheduled, schedule, countRefusal };
}
