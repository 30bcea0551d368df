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

/** Gives the answers that are due, in order, a share in each turn of the event loop. */
export class Answering {
  readonly #onTurn: () => void;
  #due: (() => void)[] = [];
  #isScheduled = false;
  #refusals = 0;

  /** `onTurn` is called at the end of each turn. */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  get due(): number {
    return this.#due.length;
  }

  get isScheduled(): boolean {
    return this.#isScheduled;
  }

  add(answer: () => void): void {
    this.#due.push(answer);
  }

  /** Sees to it that a turn comes: not at once, so that what arrives in the same turn of the event loop rides together. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#takeTurn();
      if (this.#due.length > 0) this.schedule();
    });
  }

  /** Counts somebody who was refused. */
  countRefusal(): void {
    this.#refusals += 1;
    if (this.#isScheduled && this.#refusals % REFUSALS_PER_TURN === 0) this.#takeTurn();
  }

  #takeTurn(): void {
    const share = Math.ceil(this.#due.length * SHARE_PER_TURN);
    for (const answer of this.#due.splice(0, Math.max(share, MIN_ANSWERS_PER_TURN))) answer();
    this.#onTurn();
  }
}
