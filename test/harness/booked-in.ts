import { inject } from 'vitest';

/** How reconcile calls what it has found in a shard: with its place, where there are several. */
export const bookedIn = (shardId: number, subject: string) =>
  inject('engine') === 'citus' ? `shard ${shardId}: ${subject}` : subject;
