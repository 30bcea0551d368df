import type { QueueTarget } from './queue-url.ts';

/**
 * Parts of a queue on a Redis Cluster: divided evenly by 2, 3, 4, 6 or 12 masters. Not a setting, so that producers and
 * consumers cannot differ. In a release that changes it, what lies in parts that nobody looks into any more is found by the
 * capabilities' rounds.
 */
const CLUSTER_PARTITIONS = 12;
const SLOTS = 16_384;
/** How far a partition may lie from its place: far less than partitions lie apart. */
const TOLERANCE = 64;

/**
 * Returns the prefix of the keys of each partition of a namespace's queues. There is one, but on a Redis Cluster: there their
 * hash slots lie evenly apart. The first is the same everywhere, and was the only one before there were partitions.
 */
export function partitionPrefixes({ kind }: Pick<QueueTarget, 'kind'>, namespace: string): string[] {
  const first = hashSlot(namespace);
  const count = kind === 'redis-cluster' ? CLUSTER_PARTITIONS : 1;
  return Array.from({ length: count }, (_, partition) => {
    const slot = first + Math.round((partition * SLOTS) / count);
    return `{${partition === 0 ? namespace : tagNear(slot, namespace)}}`;
  });
}

/** Returns a tag whose slot is this one, or a little behind. The dash keeps it apart from other namespaces. */
function tagNear(slot: number, namespace: string): string {
  for (let suffix = 1; ; suffix += 1) {
    const tag = `${namespace}-${suffix}`;
    if ((hashSlot(tag) - slot + 2 * SLOTS) % SLOTS < TOLERANCE) return tag;
  }
}

/** Returns the slot in which a Redis Cluster keeps what has this tag: CRC-16/XMODEM. */
export function hashSlot(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc % SLOTS;
}

/**
 * Returns the partition, of `count`, that a key belongs to. Of 0 it is the first. Multiplied by the golden ratio (Fibonacci
 * hashing), keys that follow each other lie evenly, also where some are left out.
 */
export function partitionOf(key: number, count: number): number {
  const fraction = (Math.imul(key, 0x9e3779b1) >>> 0) / 2 ** 32;
  return Math.floor(fraction * count);
}
