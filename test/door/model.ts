// What is true about the doors of an event, calculated from all scans that the server has received. It does
// not know the SQL.

export const ENTRY_RULES = ['once', 're-entry', 'any'] as const;
export type EntryRule = (typeof ENTRY_RULES)[number];

/** A person was let in, or left. */
export interface Fact {
  direction: 'in' | 'out';
  deviceId: number;
  counter: number;
  /** In microseconds. */
  at: number;
}

export interface Conflict<Item extends Fact> {
  first: Item;
  again: Item;
}

/** In the order of their times. A device makes its scans one after another, so its counters decide between its equal times. */
const inOrder = (one: Fact, other: Fact) =>
  one.at - other.at || one.deviceId - other.deviceId || one.counter - other.counter;

/**
 * Returns the conflicts of one pass in one area, the number of people that it let in and that are still
 * inside, and whether the pass is admitted the next time.
 */
export function judge<Item extends Fact>(rule: EntryRule, facts: readonly Item[]) {
  const conflicts: Conflict<Item>[] = [];
  let first: Item | null = null;
  let isInside = false;
  for (const fact of facts.toSorted(inOrder)) {
    if (fact.direction === 'out') isInside = false;
    else if (first && blocks(rule, isInside)) conflicts.push({ first, again: fact });
    else {
      first = fact;
      isInside = true;
    }
  }
  const isAdmitted = first === null || !blocks(rule, isInside);
  return { conflicts, inside: isInside ? 1 : 0, isAdmitted };
}

const blocks = (rule: EntryRule, isInside: boolean) => rule === 'once' || (rule === 're-entry' && isInside);

/** Returns whether two devices have facts at the same time. Then nobody knows which was first. */
export function isTied(facts: readonly Fact[]): boolean {
  const devices = new Map<number, number>();
  return facts.some(({ at, deviceId }) => devices.getOrInsert(at, deviceId) !== deviceId);
}
