import { inTransaction, type Database } from '@floodgate/database';
import { hasQueued, queueDeliveries } from '@floodgate/deliveries';
import { CONFIRMATION, findEvent } from '@floodgate/events';
import { advance, readJournal, release, type Consumer, type RunEnd } from '@floodgate/journal';
import type { Logger } from '@floodgate/service';

/** Registrations that are queued at once. */
const PAGE = 1_000;
/**
 * While so many e-mails of an event wait, no more are queued: deliveries of other events are not behind a whole launch, and what is
 * switched off was hardly begun.
 */
const MOST_QUEUED = 2_000;
const LOOK_AGAIN_MS = 200;

interface QueueOptions {
  db: Database;
  log: Logger;
  isOutside: boolean;
  /** Called when deliveries were queued. */
  onQueued: () => void;
}

/** Queues an e-mail for each registration that the journal has confirmed since, and moves the cursor in the same transaction. */
export async function queueConfirmations(
  { db, log, isOutside, onQueued }: QueueOptions,
  consumer: Consumer,
): Promise<RunEnd> {
  const { shardId, eventId } = consumer;
  const { mode } = await findEvent(db, eventId);
  const queue = { shardId, eventId, kind: CONFIRMATION };
  if (await hasQueued(db, queue, MOST_QUEUED)) {
    await release(db, consumer, LOOK_AGAIN_MS);
    return 'released';
  }
  const page = await readJournal(db, { shardId, eventId, kinds: ['confirmed'] }, consumer.cursor, PAGE);
  if (typeof page === 'string') {
    log.warn({ eventId, problem: page }, 'journal entries have expired: e-mails continue with the oldest');
    return (await advance(db, consumer, { cursor: 0 })) ? 'more' : 'released';
  }
  const { entries, cursor, more } = page;
  // Nothing of a test event leaves this machine.
  const wanted = isOutside && mode === 'test' ? [] : entries;
  const subjects = wanted.map(({ serial, at }) => ({ subject: String(serial), since: at }));
  const isAdvanced = await inTransaction(db, async (transaction) => {
    // First: a process that has lost the lease queues nothing.
    const isLeased = await advance(transaction, consumer, { cursor });
    if (isLeased) await queueDeliveries(transaction, queue, subjects);
    return isLeased;
  });
  if (!isAdvanced) return 'released';
  if (subjects.length > 0) onQueued();
  return more ? 'more' : 'caught-up';
}
