import { inject } from 'vitest';

/** Returns reconcile's name for a finding in a shard. It includes the shard if there are several. */
export const bookedIn = (shardId: number, subject: string) =>
  inject('engine') === 'citus' ? `shard ${shardId}: ${subject}` : subject;
