/*
 * Decides whether the calls for one ticket have an order in which its counter stays between 0 and the capacity.
 *
 * Each operation adds its amount to the counter at one instant of its interval. Each reading "sold out" needs
 * one instant of its interval at which the counter was full. The search walks through the starts and ends in
 * the order of time, and keeps every state that the counter can have: its value, and which of the open
 * operations have happened. This is the search of Wing and Gong with operations made "just in time" (Lowe,
 * 2017):
 *
 * - An operation happens at its end, unless something needs it earlier. A grant without a free seat needs an open
 *   release. A reading needs open grants, at its own end or before the end of a release. Where nothing needs it, an
 *   earlier operation leads to no state that a later one does not lead to.
 * - If a release can happen before its grant must, both can happen early, while seats are free for them (#visit).
 * - Of open operations with the same amount, the one that ends first is made first. If a valid order makes another one
 *   first, exchanging the two is a valid order as well. A grant of which a release is open is like another one only if
 *   their releases are alike too.
 *
 * So the search refuses a history if and only if there is no such order. bounded-counter.test.ts compares it
 * with a search through all orders.
 *
 * If many seats can be released before their grant must happen, there are too many states. Then a second
 * search forgets that a seat is released after its grant, so that all operations with the same amount are
 * alike. It accepts more histories, and says so. Whatever it refuses has no valid order.
 */

export interface Operation {
  /** The line of the call. */
  line: number;
  start: number;
  /** Infinity: at any later time. It did happen: the final state shows that. */
  end: number;
  amount: number;
  /** It happens after this one. */
  after?: Operation | undefined;
}

/** An answer "sold out". */
export interface Reading {
  line: number;
  start: number;
  end: number;
  /** At one instant of the interval, the counter had at least this value. */
  atLeast: number;
}

export interface CounterHistory {
  operations: Operation[];
  readings: Reading[];
  /** The highest capacity that the ticket can have at this time. */
  capacityAt: (time: number) => number;
}

export type Verdict =
  /** `isRelaxed`: only the second search has decided it. */
  | { kind: 'ok'; isRelaxed: boolean }
  | { kind: 'refused'; line: number; problem: string }
  | { kind: 'undecided'; problem: string };

/** A search gives up after this number of steps. */
const MOST_STEPS = 100_000;

/** One possible state of the counter. */
interface State {
  value: number;
  /** Open operations that have happened. */
  made: ReadonlySet<Operation>;
  /** Open readings that were satisfied. */
  satisfied: ReadonlySet<Reading>;
}

interface Moment {
  time: number;
  isEnd: boolean;
  operation?: Operation;
  reading?: Reading;
}

export function checkCounter(history: CounterHistory): Verdict {
  return new Search(history, false).run() ?? checkRelaxed(history);
}

/** Forgets that a seat is released after its grant. */
export function checkRelaxed(history: CounterHistory): Verdict {
  const verdict = new Search(history, true).run();
  return verdict ?? { kind: 'undecided', problem: 'too many orders are possible' };
}

class TooManyStates extends Error {}

class Search {
  readonly #moments: Moment[];
  readonly #capacityAt: (time: number) => number;
  /** Open operations, the one that ends first in front. */
  readonly #open: Operation[] = [];
  readonly #readings = new Set<Reading>();
  /** The releases that can happen before their grant must. */
  readonly #releasesOf: Map<Operation, Operation[]>;
  /** The capacity has room for all grants. */
  readonly #isRoomy: boolean;
  readonly #numbers = new Map<object, number>();
  readonly #isRelaxed: boolean;
  #now = 0;
  #steps = 0;
  #states: State[] = [{ value: 0, made: new Set(), satisfied: new Set() }];

  constructor({ operations, readings, capacityAt }: CounterHistory, isRelaxed: boolean) {
    this.#capacityAt = capacityAt;
    this.#isRelaxed = isRelaxed;
    const early = operations.filter(({ after, start }) => !isRelaxed && after && after.end >= start);
    this.#releasesOf = Map.groupBy(early, ({ after }) => after!);
    this.#isRoomy = mostOf(operations) <= capacityAt(-Infinity);
    this.#moments = [
      ...operations.flatMap((operation) => momentsOf(operation, { operation })),
      ...readings.flatMap((reading) => momentsOf(reading, { reading })),
    ].sort((a, b) => order(a.time, b.time) || Number(a.isEnd) - Number(b.isEnd));
    for (const one of [...operations, ...readings]) this.#numbers.set(one, this.#numbers.size);
  }

  /** Null: there are too many states. */
  run(): Verdict | null {
    try {
      return this.#run();
    } catch (error) {
      if (error instanceof TooManyStates) return null;
      throw error;
    }
  }

  #run(): Verdict {
    for (const { time, isEnd, operation, reading } of this.#moments) {
      this.#now = time;
      if (operation && !isEnd) this.#begin(operation);
      else if (reading && !isEnd) this.#readings.add(reading);
      const problem =
        isEnd && operation ? this.#end(operation) : isEnd && reading ? this.#endReading(reading) : null;
      if (problem !== null) return { kind: 'refused', line: (operation ?? reading)!.line, problem };
      if (reading && !isEnd) this.#states = this.#states.map((state) => this.#satisfy(state));
    }
    return { kind: 'ok', isRelaxed: this.#isRelaxed };
  }

  #begin(operation: Operation): void {
    const next = this.#open.findIndex(({ end }) => end > operation.end);
    this.#open.splice(next < 0 ? this.#open.length : next, 0, operation);
  }

  #end(operation: Operation): string | null {
    const before = this.#states;
    this.#states = this.#distinct(before.flatMap((state) => this.#makeBy(state, operation)));
    this.#open.splice(this.#open.indexOf(operation), 1);
    this.#states = this.#distinct(
      this.#states.map((state) => ({ ...state, made: without(state.made, operation) })),
    );
    if (this.#states.length > 0) return null;
    const values = before.map(({ value }) => value);
    const { amount } = operation;
    const capacity = this.#capacityAt(this.#now);
    return amount > 0
      ? `granted ${amount}, but at no instant of the call ${amount} of ${capacity} ` +
          `seats were free: at least ${Math.min(...values)} were taken at its end`
      : `released ${-amount}, but at no instant of the call so many were granted`;
  }

  #endReading(reading: Reading): string | null {
    const before = this.#states;
    const isSatisfied = ({ satisfied }: State) => satisfied.has(reading);
    this.#states = before.flatMap((state) => this.#fill(state, isSatisfied).filter(isSatisfied));
    this.#readings.delete(reading);
    this.#states = this.#distinct(
      this.#states.map((state) => ({ ...state, satisfied: without(state.satisfied, reading) })),
    );
    if (this.#states.length > 0) return null;
    const most = Math.max(
      ...before.flatMap((state) => this.#fill(state, () => false).map(({ value }) => value)),
    );
    return (
      `answered "sold out", but at no instant of the call more than ${most} seats can have been taken, ` +
      `of ${reading.atLeast}`
    );
  }

  /** The states in which the operation has happened, after others that had to happen before. */
  #makeBy(state: State, operation: Operation): State[] {
    if (state.made.has(operation)) return [state];
    const isWanted = (other: State) => this.#canMake(other, operation);
    const visited = this.#visit(state, operation);
    const before = visited.flatMap((one) => {
      const isLastChance = operation.amount < 0 || !isWanted(one);
      return isLastChance ? [one, ...this.#satisfyMore(one)] : [one];
    });
    return this.#distinct(before)
      .flatMap((one) => this.#free(one, operation, isWanted))
      .filter(isWanted)
      .map((one) => this.#make(one, operation));
  }

  /** The states after open grants whose releases are open as well: both can happen now, while seats are free. */
  #visit(state: State, operation: Operation): State[] {
    const grants = this.#open.filter((one) => this.#releasesOf.has(one) && !state.made.has(one));
    if (this.#isRoomy || grants.length === 0) return [state];
    const visited = this.#explore(
      state,
      () => false,
      () => this.#releasing(operation),
    );
    return visited.filter((one) => one === state || grants.some((grant) => one.made.has(grant)));
  }

  /** Releases, and grants whose releases are open as well. */
  #releasing(except: Operation): Operation[] {
    return this.#open.filter((one) => one !== except && (one.amount < 0 || this.#releasesOf.has(one)));
  }

  /** The states in which more readings are satisfied than now. */
  #satisfyMore(state: State): State[] {
    const open = this.#readings.size;
    return this.#fill(state, ({ satisfied }) => satisfied.size === open).filter(
      ({ satisfied }) => satisfied.size > state.satisfied.size,
    );
  }

  /** The states that open grants lead to. Releases come before a grant only if there are too few seats for it. */
  #fill(state: State, isAim: (state: State) => boolean): State[] {
    return this.#explore(state, isAim, (one) => {
      const grants = this.#open.filter(({ amount }) => amount > 0);
      const capacity = this.#capacityAt(this.#now);
      const isShort = grants.some((grant) => !one.made.has(grant) && one.value + grant.amount > capacity);
      return isShort ? this.#open : grants;
    });
  }

  /** The states that lead to one in which the operation can happen: releases, and grants of what they release. */
  #free(state: State, operation: Operation, isWanted: (state: State) => boolean): State[] {
    const useful = this.#releasing(operation);
    return this.#explore(state, isWanted, () => useful);
  }

  /** Every state that can be reached. Does not go on from a state that is an aim. */
  #explore(
    state: State,
    isAim: (state: State) => boolean,
    useful: (state: State) => readonly Operation[],
  ): State[] {
    const found = new Map([[this.#keyOf(state), state]]);
    for (const one of found.values()) {
      if (isAim(one)) continue;
      for (const operation of this.#choices(one, useful(one))) {
        const next = this.#make(one, operation);
        const key = this.#keyOf(next);
        if (!found.has(key)) found.set(key, next);
      }
    }
    return [...found.values()];
  }

  /** Of each amount, the open operation that ends first and can happen now. */
  #choices(state: State, operations: readonly Operation[]): Operation[] {
    const chosen = new Map<string, Operation>();
    for (const operation of operations) {
      const alike = this.#likenessOf(operation);
      if (!chosen.has(alike) && this.#canMake(state, operation)) chosen.set(alike, operation);
    }
    return [...chosen.values()];
  }

  /** The same for operations of which the one that ends first can be made first. */
  #likenessOf(operation: Operation): string {
    const releases = this.#releasesOf.get(operation) ?? [];
    const ends = releases.map(({ start, end, amount }) =>
      [Math.max(start, this.#now), end, amount].join('-'),
    );
    return `${operation.amount} ${releases.length > 0 ? [operation.end, ...ends].join(' ') : ''}`;
  }

  #canMake({ value, made }: State, operation: Operation): boolean {
    const { amount, after } = operation;
    if (made.has(operation) || value + amount > this.#capacityAt(this.#now)) return false;
    if (this.#isRelaxed) return true;
    // It has happened, or has ended and so has happened.
    return (
      after === undefined || made.has(after) || (after.start <= this.#now && !this.#open.includes(after))
    );
  }

  #make({ value, made, satisfied }: State, operation: Operation): State {
    this.#steps += 1;
    if (this.#steps > MOST_STEPS) throw new TooManyStates();
    return this.#satisfy({
      value: value + operation.amount,
      made: new Set([...made, operation]),
      satisfied,
    });
  }

  #satisfy(state: State): State {
    const full = [...this.#readings].filter(({ atLeast }) => state.value >= atLeast);
    return full.length === 0 ? state : { ...state, satisfied: new Set([...state.satisfied, ...full]) };
  }

  #keyOf({ value, made, satisfied }: State): string {
    const numbers = (set: ReadonlySet<object>) =>
      [...set].map((one) => this.#numbers.get(one)!).toSorted(order);
    return `${value}:${numbers(made).join()}:${numbers(satisfied).join()}`;
  }

  #distinct(states: State[]): State[] {
    return [...new Map(states.map((state) => [this.#keyOf(state), state])).values()];
  }
}

const order = (a: number, b: number) => (a < b ? -1 : Number(a > b));

/** The most that the counter can be at any time, if grants happen at their start and releases at their end. */
function mostOf(operations: readonly Operation[]): number {
  const steps = operations
    .map(({ start, end, amount }) => ({ time: amount > 0 ? start : end, amount }))
    .sort((a, b) => order(a.time, b.time) || b.amount - a.amount);
  let [value, most] = [0, 0];
  for (const { amount } of steps) most = Math.max(most, (value += amount));
  return most;
}

const momentsOf = ({ start, end }: { start: number; end: number }, what: object): Moment[] => [
  { time: start, isEnd: false, ...what },
  { time: end, isEnd: true, ...what },
];

function without<Item>(set: ReadonlySet<Item>, item: Item): ReadonlySet<Item> {
  if (!set.has(item)) return set;
  const rest = new Set(set);
  rest.delete(item);
  return rest;
}
