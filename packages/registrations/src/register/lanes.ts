/** Who asks. Partners who wait at the same time share what there is by their weights. */
export interface Partner {
  partnerId: number;
  weight: number;
}

/** An item, and whom to tell what became of it. */
export interface Waiting<Item, Outcome> {
  item: Item;
  seats: number;
  submittedAt: number;
  answer: (outcome: Outcome) => void;
}

/** What one partner waits for, in order of arrival; at least one item. */
interface Lane<One> extends Partner {
  waiting: One[];
  /** How many seats they ask for. */
  seats: number;
  /** How many it may take until its turn ends. What it cannot use for a large item is saved for the next. */
  credit: number;
}

/** Of a group, what a large order asks for: more than all single calls that come while it is committed, as a rule. */
const LARGE_SHARE = 1 / 20;

/**
 * Who waits for a group, a lane for each partner. Lanes take turns by deficit round robin (Shreedhar and Varghese): in a turn a
 * lane may take its share of one group. With one lane that is first in, first out.
 */
export class Lanes<One extends Pick<Waiting<unknown, never>, 'seats' | 'submittedAt'>> {
  readonly #groupLimit: number;
  readonly #byPartner = new Map<number, Lane<One>>();
  /** The same lanes, in the order of their turns. */
  readonly #turns: Lane<One>[] = [];
  /** Whose first item did not fit into the last group: it begins the next, before anybody who has come since. */
  #owed: Lane<One> | undefined;
  #weights = 0;
  /** Whether the last group had a large order. */
  #wasHeavy = false;
  /** How many items wait, and how many seats they ask for. */
  size = 0;
  seats = 0;

  /** `groupLimit`: seats that one group may ask for. A larger item goes alone. */
  constructor(groupLimit: number) {
    this.#groupLimit = groupLimit;
  }

  add(partner: Partner, one: One): void {
    const lane = this.#byPartner.get(partner.partnerId) ?? this.#open(partner);
    if (lane.weight !== partner.weight) this.#weigh(lane, partner.weight);
    lane.waiting.push(one);
    lane.seats += one.seats;
    this.seats += one.seats;
    this.size += 1;
  }

  /** How many seats a partner waits for. */
  seatsOf({ partnerId }: Partner): number {
    return this.#byPartner.get(partnerId)?.seats ?? 0;
  }

  /** A partner's part of a whole, beside those who wait now. */
  shareOf({ partnerId, weight }: Partner, whole: number): number {
    const others = this.#weights - (this.#byPartner.get(partnerId)?.weight ?? 0);
    return (whole * weight) / (others + weight);
  }

  /** Takes the next group out. */
  takeGroup(): One[] {
    const group = this.#wasHeavy && this.#turns.length > 1 ? this.#takeLight() : [];
    if (group.length === 0) this.#takeTurns(group);
    this.#wasHeavy = group.some((one) => this.#isLarge(one));
    return group;
  }

  #takeTurns(group: One[]): void {
    let seats = this.#owed ? this.#take(this.#owed, 1, group) : 0;
    this.#owed = undefined;
    for (let lane = this.#turns[0]; lane && seats < this.#groupLimit && !this.#owed; lane = this.#turns[0]) {
      seats += this.#take(lane, this.#countFitting(lane, seats), group);
      const next = lane.waiting[0];
      if (!next) continue;
      if (next.seats <= lane.credit) this.#owed = lane;
      else this.#endTurn(lane);
    }
  }

  /**
   * Takes what others than large orders may have now, of the turns that they have anyway: after a group with a large one, so that
   * nobody waits for two of those in a row.
   */
  #takeLight(): One[] {
    const group: One[] = [];
    let seats = 0;
    for (const lane of this.#byPartner.values())
      seats += this.#take(lane, this.#countFitting(lane, seats, true), group);
    return group;
  }

  #isLarge({ seats }: One): boolean {
    return seats > this.#groupLimit * LARGE_SHARE;
  }

  /** Takes out all that were submitted before this moment. */
  takeOverdue(submittedBefore: number): One[] {
    const overdue: One[] = [];
    for (const lane of this.#byPartner.values()) {
      const firstInTime = lane.waiting.findIndex(({ submittedAt }) => submittedAt >= submittedBefore);
      const count = firstInTime === -1 ? lane.waiting.length : firstInTime;
      lane.credit += this.#take(lane, count, overdue);
    }
    return overdue;
  }

  /** It comes first: one turn is a share of a group, so whoever wants less than that is in the next one. */
  #open({ partnerId, weight }: Partner): Lane<One> {
    this.#weights += weight;
    const lane: Lane<One> = { partnerId, weight, waiting: [], seats: 0, credit: this.#turnOf(weight) };
    this.#byPartner.set(partnerId, lane);
    this.#turns.unshift(lane);
    return lane;
  }

  #weigh(lane: Lane<One>, weight: number): void {
    this.#weights += weight - lane.weight;
    lane.weight = weight;
  }

  /** At least one seat, or a turn might lead nowhere. */
  #turnOf(weight: number): number {
    return Math.max(1, (this.#groupLimit * weight) / this.#weights);
  }

  /** How many of a lane's items it may take, and fit into a group that has so many seats already, or into a light one. */
  #countFitting({ waiting, credit }: Lane<One>, taken: number, isLight = false): number {
    let [count, seats] = [0, 0];
    for (const one of waiting) {
      const isOverfull = taken + seats > 0 && taken + seats + one.seats > this.#groupLimit;
      if (isOverfull || seats + one.seats > credit || (isLight && this.#isLarge(one))) break;
      count += 1;
      seats += one.seats;
    }
    return count;
  }

  #endTurn(lane: Lane<One>): void {
    lane.credit += this.#turnOf(lane.weight);
    this.#turns.shift();
    this.#turns.push(lane);
  }

  /** Moves the first items of a lane into a group, on its credit. Returns how many seats they ask for. */
  #take(lane: Lane<One>, count: number, group: One[]): number {
    if (count === 0) return 0;
    let seats = 0;
    for (let index = 0; index < count; index++) {
      const one = lane.waiting[index]!;
      seats += one.seats;
      group.push(one);
    }
    lane.waiting = lane.waiting.slice(count);
    lane.seats -= seats;
    lane.credit -= seats;
    this.seats -= seats;
    this.size -= count;
    if (lane.waiting.length === 0) this.#close(lane);
    return seats;
  }

  #close(lane: Lane<One>): void {
    this.#weights -= lane.weight;
    this.#byPartner.delete(lane.partnerId);
    this.#turns.splice(this.#turns.indexOf(lane), 1);
    if (this.#owed === lane) this.#owed = undefined;
  }
}
