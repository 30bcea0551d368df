import type { onRequestHookHandler, PartnerPrincipal } from '@floodgate/http';
import { AdmissionQueue, type AdmissionOptions } from './admission-queue.ts';

type Caller = Pick<PartnerPrincipal, 'shardId' | 'partnerId' | 'weight'>;

interface Options<Item, Outcome> extends Omit<AdmissionOptions<Item, Outcome>, 'commit'> {
  /** Commits items of one shard. */
  commit: (items: Item[], shardId: number) => Promise<Outcome[]>;
}

export type Admission<Item, Outcome> = ReturnType<typeof createAdmission<Item, Outcome>>;

/** Opens one queue per shard, so that a slow shard delays its own items only. */
export function createAdmission<Item, Outcome>({ commit, ...options }: Options<Item, Outcome>) {
  const queues = new Map<number, AdmissionQueue<Item, Outcome>>();
  const queueOf = (shardId: number) => {
    const queue =
      queues.get(shardId) ?? new AdmissionQueue({ ...options, commit: (items) => commit(items, shardId) });
    queues.set(shardId, queue);
    return queue;
  };
  const retryAfterSeconds = ({ shardId }: Pick<Caller, 'shardId'>) => queueOf(shardId).secondsToDrain();

  /** Refuses a request before its body is read when the queue is full: reading it would delay admitted callers. */
  const refuseWhenFull: onRequestHookHandler = ({ principal }, reply, done) => {
    if (queueOf(principal.shardId).admits(principal)) done();
    else reply.fail('90', { retryAfterSeconds: retryAfterSeconds(principal) });
  };

  return {
    refuseWhenFull,
    /** Resolves to the outcome of the item; never rejects. */
    submit: (caller: Caller, item: Item) => queueOf(caller.shardId).submit(item, caller),
    /** Seconds until everything that waits for the same shard will be committed, at the pace of the last groups. */
    retryAfterSeconds,
    /** Whether small items were submitted within the last second. */
    servesSmallItems: () => [...queues.values()].some((queue) => queue.servesSmallItems()),
    /** Resolves when everything that was submitted is answered. */
    drain: async () => void (await Promise.all([...queues.values()].map((queue) => queue.drain()))),
  };
}
