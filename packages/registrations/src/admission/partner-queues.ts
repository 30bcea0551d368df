import type { Principal } from '@floodgate/http';

/** A partner and its weight. Waiting partners share each group by their weights. */
export type Partner = Pick<Principal, 'partnerId' | 'weight'>;

/** An item that waits. `units` is what it costs: its number of seats, or 1. */
export interface Waiting {
  units: number;
  since: number;
}

/** The items of one partner, oldest first. The next group closes an empty queue. */
interface Queue<Item> extends Partner {
  items: Item[];
  units: number;
  /**
   * Units that the partner may still take in this round. A remainder is kept for its next item, which costs
   * more.
   */
  credit: number;
}

type Stop = 'empty' | 'no-credit' | 'group-full' | 'large';

/** Items of this many units are large: a commit with one takes noticeably longer for all its items. */
export const LARGE_UNITS = 100;

/**
 * Item queue per partner. Groups are filled by deficit round robin (Shreedhar and Varghese): in a round each
 * partner may take its share of one group, by weight. With one partner this is first in, first out.
 */
export class PartnerQueues<Item extends Waiting> {
  readonly #groupLimit: number;
  readonly #byPartner = new Map<number, Queue<Item>>();
  /** The same queues in round-robin order. */
  readonly #ring: Queue<Item>[] = [];
  #weights = 0;
  /**
   * Whether the first queue did not fit into the last group. New queues are served after it. Otherwise it
   * could wait forever.
   */
  #isFirstOwed = false;
  #smallItems = 0;
  items = 0;
  units = 0;

  /** `groupLimit`: units of one group. An item with more of them forms a group by itself. */
  constructor(groupLimit: number) {
    this.#groupLimit = groupLimit;
  }

  add(partner: Partner, item: Item) {
    const queue = this.#byPartner.get(partner.partnerId) ?? this.#open(partner);
    this.#weights += partner.weight - queue.weight;
    queue.weight = partner.weight;
    queue.items.push(item);
    this.#count(queue, item, 1);
  }

  unitsOf({ partnerId }: Partner) {
    return this.#byPartner.get(partnerId)?.units ?? 0;
  }

  /** Returns a partner's share of a whole among the partners that wait now. */
  shareOf({ partnerId, weight }: Partner, whole: number) {
    const others = this.#weights - (this.#byPartner.get(partnerId)?.weight ?? 0);
    return (whole * weight) / (others + weight);
  }

  /** Removes and returns the next group. While small items wait, it has one large item at most. */
  takeGroup(): Item[] {
    const group = { items: [] as Item[], units: 0, largeLeft: this.#smallItems > 0 ? 1 : Infinity };
    const held: Queue<Item>[] = [];
    let stop: Stop = 'empty';
    while (this.#ring.length > 0 && group.units < this.#groupLimit) {
      const queue = this.#ring[0]!;
      stop = this.#moveItems(queue, group);
      if (stop === 'group-full') break;
      this.#ring.shift();
      if (stop === 'empty') this.#close(queue);
      if (stop === 'large') held.push(queue);
      if (stop !== 'no-credit') continue;
      queue.credit += this.#creditOf(queue.weight);
      this.#ring.push(queue);
    }
    this.#isFirstOwed = held.length > 0 || stop === 'group-full';
    this.#ring.unshift(...held);
    return group.items;
  }

  /**
   * Removes and returns all items that wait since before this moment. Items are not in this order: some have
   * waited elsewhere before.
   */
  takeOverdue(before: number): Item[] {
    return [...this.#byPartner.values()].flatMap((queue) => {
      const overdue = queue.items.filter(({ since }) => since < before);
      if (overdue.length > 0) queue.items = queue.items.filter(({ since }) => since >= before);
      for (const item of overdue) this.#count(queue, item, -1);
      return overdue;
    });
  }

  /** Moves the first items of a queue into the group. Returns why it stopped. */
  #moveItems(queue: Queue<Item>, group: { items: Item[]; units: number; largeLeft: number }): Stop {
    let stop: Stop = 'empty';
    let count = 0;
    for (const { units } of queue.items) {
      const isLarge = units >= LARGE_UNITS;
      if (isLarge && group.largeLeft === 0) stop = 'large';
      else if (units > queue.credit) stop = 'no-credit';
      else if (group.units > 0 && group.units + units > this.#groupLimit) stop = 'group-full';
      if (stop !== 'empty') break;
      if (isLarge) group.largeLeft -= 1;
      queue.credit -= units;
      group.units += units;
      count += 1;
    }
    for (const item of queue.items.splice(0, count)) {
      this.#count(queue, item, -1);
      group.items.push(item);
    }
    return stop;
  }

  #count(queue: Queue<Item>, { units }: Item, sign: 1 | -1) {
    queue.units += sign * units;
    this.units += sign * units;
    this.items += sign;
    if (units < LARGE_UNITS) this.#smallItems += sign;
  }

  /** A new queue is served first: a partner that wants less than its share is in the next group. */
  #open({ partnerId, weight }: Partner): Queue<Item> {
    this.#weights += weight;
    const queue: Queue<Item> = { partnerId, weight, items: [], units: 0, credit: this.#creditOf(weight) };
    this.#byPartner.set(partnerId, queue);
    this.#ring.splice(this.#isFirstOwed ? 1 : 0, 0, queue);
    return queue;
  }

  #close({ partnerId, weight }: Queue<Item>) {
    this.#weights -= weight;
    this.#byPartner.delete(partnerId);
  }

  /** At least one unit: otherwise a round could serve no partner. */
  #creditOf(weight: number) {
    return Math.max(1, (this.#groupLimit * weight) / this.#weights);
  }
}
