import { setImmediate as nextTurn } from 'node:timers/promises';
import { Answering } from './answering.ts';
import { WaitingRoom, type Waiting, type WaitingRoomOptions } from './waiting-room.ts';

export interface GroupCommitOptions<Item, Outcome> extends WaitingRoomOptions<Item> {
  /** Commits a group. Resolves with one outcome per item, in order, by itself and within reasonable time; never rejects. */
  commit: (items: Item[]) => Promise<Outcome[]>;
  /** The outcome of an item that was not taken, or waited for too long: nothing was committed. */
  overloaded: Outcome;
  /** The outcome of an item whose group has been under way for too long: nobody knows. */
  unknown: Outcome;
}

interface Group<Item, Outcome> {
  members: Waiting<Item, Outcome>[];
  settled: Promise<void>;
}

const SWEEP_INTERVAL_MS = 50;
/** Overdue is who comes so near to it, because between two sweeps, and on the way out, time passes. */
const SWEEP_EARLY_MS = 2 * SWEEP_INTERVAL_MS;

/**
 * Commits items in groups, one group at a time.
 *
 *            ┌───────────── waiting room ─────────────┐   ┌─ group commit ─┐   ┌──── answering ────┐
 *   submit ─►│ as many as can be answered in time     ├──►│ one under way  ├──►│ a share per turn  ├─► outcome
 *            └──┬──────────────────────────────┬──────┘   └──────┬─────────┘   └───────────────────┘
 *               ▼ no room, too many of a key   ▼ overdue         ▼ overdue
 *            overloaded                     overloaded        unknown
 *
 * No timer holds anything back. What arrives in one turn of the event loop and finds nothing to do goes at once, and the
 * busier it gets, the larger the groups.
 *
 * Under load, answering takes as long as committing, and who was answered soon sends the next item. So the next group
 * leaves when as many items wait as there are still to be answered: Postgres works on one half while this process
 * answers the other. Leaving earlier makes small groups, which cost more. Leaving after the last answer makes the two
 * wait for each other.
 */
export class GroupCommit<Item, Outcome> {
  readonly #options: GroupCommitOptions<Item, Outcome>;
  readonly #room: WaitingRoom<Item, Outcome>;
  readonly #answering = new Answering(() => this.#commitNextGroup());
  readonly #sweeper: NodeJS.Timeout;
  #group: Group<Item, Outcome> | null = null;

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.#options = options;
    this.#room = new WaitingRoom(options);
    this.#sweeper = setInterval(() => this.#answerOverdue(), SWEEP_INTERVAL_MS).unref();
  }

  /** Returns whether an item may come now. Counts it as refused where it may not: others' answers get their turn by that. */
  admit(): boolean {
    if (!this.#room.isFull) return true;
    this.#answering.countRefusal();
    return false;
  }

  /** Resolves with the item's own outcome; never rejects. */
  submit(item: Item): Promise<Outcome> {
    return new Promise((answer) => {
      if (this.#room.enter(item, answer)) return this.#answering.schedule();
      this.#answering.countRefusal();
      answer(this.#options.overloaded);
    });
  }

  /** Resolves when everything that was submitted is answered. */
  async drain(): Promise<void> {
    while (this.#group || this.#answering.isScheduled) await (this.#group?.settled ?? nextTurn());
    clearInterval(this.#sweeper);
  }

  #commitNextGroup(): void {
    const isDue = this.#room.size >= Math.min(this.#answering.due, this.#options.groupLimit);
    if (this.#group || this.#room.size === 0 || !isDue) return;
    const leftAt = performance.now();
    const members = this.#room.takeGroup();
    const committed = this.#options.commit(members.map(({ item }) => item));
    const settled = committed.then((outcomes) => this.#settle(members, outcomes, leftAt));
    this.#group = { members, settled };
  }

  #settle(members: Waiting<Item, Outcome>[], outcomes: Outcome[], leftAt: number): void {
    this.#room.measure(performance.now() - leftAt);
    members.forEach(({ answer }, index) => this.#answering.add(() => answer(outcomes[index]!)));
    this.#group = null;
    this.#commitNextGroup();
    this.#answering.schedule();
  }

  #answerOverdue(): void {
    const { answerWithinMs, overloaded, unknown } = this.#options;
    const overdue = performance.now() - Math.max(answerWithinMs - SWEEP_EARLY_MS, answerWithinMs / 2);
    for (const { submittedAt, answer } of this.#group?.members ?? [])
      if (submittedAt < overdue) answer(unknown);
    for (const { answer } of this.#room.takeOverdue(overdue)) answer(overloaded);
  }
}
