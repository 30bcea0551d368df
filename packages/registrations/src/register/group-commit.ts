import { setImmediate as nextTurn } from 'node:timers/promises';
import { createAnswering } from './answering.ts';
import { createDrainRate } from './drain-rate.ts';
import type { Partner, Waiting } from './lanes.ts';
import { createWaitingRoom, type WaitingRoomOptions } from './waiting-room.ts';

export interface GroupCommitOptions<Item, Outcome> extends WaitingRoomOptions<Item> {
  /** Commits a group. Resolves with one outcome per item, in order, by itself and within reasonable time; never rejects. */
  commit: (items: Item[]) => Promise<Outcome[]>;
  /** Whether a commit costs far more than the answers to it: then fewer, larger groups are better. */
  isCommitDear: boolean;
  /** The outcome of an item that was not taken, or waited for too long: nothing was committed. */
  overloaded: Outcome;
  /** The outcome of an item whose group has been under way for too long: nobody knows. */
  unknown: Outcome;
}

const SWEEP_INTERVAL_MS = 50;
/** Overdue is who comes so near to it, because between two sweeps, and on the way out, time passes. */
const SWEEP_EARLY_MS = 2 * SWEEP_INTERVAL_MS;

/**
 * Commits items in groups, one group at a time. Partners who wait at the same time take turns.
 *
 *            ┌───────────── waiting room ─────────────┐   ┌─ group commit ─┐   ┌──── answering ────┐
 *   submit ─►│ as many as can be answered in time     ├──►│ one under way  ├──►│ a share per turn  ├─► outcome
 *            └──┬──────────────────────────────┬──────┘   └──────┬─────────┘   └───────────────────┘
 *               ▼ no room                      ▼ overdue         ▼ overdue
 *            overloaded                     overloaded        unknown
 *
 * No timer holds anything back. What arrives in one turn of the event loop and finds nothing to do goes at once, and the
 * busier it gets, the larger the groups.
 *
 * Under load, answering takes as long as committing, and who was answered soon sends the next item. So the next group
 * leaves when as many items wait as there are still to be answered: Postgres works on one half while this process
 * answers the other. Leaving earlier makes small groups, which cost more. Leaving after the last answer makes the two
 * wait for each other: that is right where a commit is dear, as on a Citus cluster, and other shards use the time.
 */
export function createGroupCommit<Item, Outcome>(options: GroupCommitOptions<Item, Outcome>) {
  const { commit, isCommitDear, answerWithinMs, overloaded, unknown } = options;
  const room = createWaitingRoom<Item, Outcome>(options);
  const drainRate = createDrainRate(options.groupLimit);
  const answering = createAnswering(commitNextGroup);
  const sweeper = setInterval(answerOverdue, SWEEP_INTERVAL_MS).unref();
  let group: { members: Waiting<Item, Outcome>[]; leftAt: number; settled: Promise<void> } | null = null;
  const isBusy = () => group !== null || answering.isScheduled();

  /**
   * Returns whether an item of this partner's may come now. Counts it as refused where it may not: others' answers get their turn
   * by that.
   */
  function admit(partner: Partner): boolean {
    if (room.hasRoom(partner, 1)) return true;
    answering.countRefusal();
    return false;
  }

  /** Resolves with the item's own outcome; never rejects. */
  function submit(item: Item, partner: Partner): Promise<Outcome> {
    return new Promise((answer) => {
      if (room.enter(item, partner, answer)) return answering.schedule();
      answering.countRefusal();
      answer(overloaded);
    });
  }

  /** Seconds until those who wait now will have left, at the rate of the last groups. */
  function secondsToDrain(): number {
    return drainRate.secondsFor(room.seats(), group ? performance.now() - group.leftAt : 0);
  }

  /** Resolves when everything that was submitted is answered. */
  async function drain(): Promise<void> {
    while (isBusy()) await (group?.settled ?? nextTurn());
    clearInterval(sweeper);
  }

  function commitNextGroup(): void {
    const isAwaited = isCommitDear ? answering.due() > 0 : room.size() < answering.due();
    if (group || room.size() === 0 || (isAwaited && !room.hasWholeGroup())) return;
    const leftAt = performance.now();
    const members = room.takeGroup();
    const committed = commit(members.map(({ item }) => item));
    group = { members, leftAt, settled: committed.then((outcomes) => settle(members, outcomes, leftAt)) };
  }

  function settle(members: Waiting<Item, Outcome>[], outcomes: Outcome[], leftAt: number): void {
    const tookMs = performance.now() - leftAt;
    let committed = 0;
    members.forEach(({ answer, seats }, index) => {
      const outcome = outcomes[index]!;
      if (outcome !== overloaded) committed += seats;
      answering.add(() => answer(outcome));
    });
    room.measure(tookMs);
    drainRate.measure(committed, tookMs);
    group = null;
    commitNextGroup();
    answering.schedule();
  }

  function answerOverdue(): void {
    const overdue = performance.now() - Math.max(answerWithinMs - SWEEP_EARLY_MS, answerWithinMs / 2);
    for (const { submittedAt, answer } of group?.members ?? []) if (submittedAt < overdue) answer(unknown);
    for (const { answer } of room.takeOverdue(overdue)) answer(overloaded);
  }

  return { admit, submit, secondsToDrain, drain };
}
