import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { hasQueued, queueDeliveries } from '@floodgate/deliveries';
import { CONFIRMATION } from '@floodgate/events';
import { advance, readJournal, release, type Consumer, type RunEnd } from '@floodgate/journal';
import type { Logger } from '@floodgate/service';
import { findMailEvent } from './mail-event.ts';

/** Registrations that are queued at once. */
const PAGE = 1_000;
/**
 * While so many e-mails of an event wait, no more are queued: deliveries of other events are not behind a whole launch, and what is
 * switched off was hardly begun.
 */
const MOST_QUEUED = 2_000;
const LOOK_AGAIN_MS = 200;

export interface QueueOptions {
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
  const event = await findMailEvent(db, eventId);
  if (!event) throw new Error('the event of a mail consumer is missing');
  const queue = { shardId, eventId, kind: CONFIRMATION };
  if (await hasQueued(db, queue, MOST_QUEUED)) {
    await release(db, consumer, LOOK_AGAIN_MS);
    return 'released';
  }
  const page = await readPage(db, log, consumer);
  // Nothing of a test event leaves this machine.
  const entries = isOutside && event.mode === 'test' ? [] : page.entries;
  const subjects = entries.map(({ serial, at }) => ({ subject: String(serial), since: at }));
  const isAdvanced = await inTransaction(db, async (transaction) => {
    // First: a process that has lost the lease queues nothing.
    if (!(await advance(transaction, consumer, { cursor: page.cursor }))) return false;
    await queueDeliveries(transaction, queue, subjects);
    return true;
  });
  if (!isAdvanced) return 'released';
  if (subjects.length > 0) onQueued();
  return page.more ? 'more' : 'caught-up';
}

async function readPage(db: Database, log: Logger, { shardId, eventId, cursor }: Consumer) {
  const scope = { shardId, eventId, kinds: ['confirmed'] } as const;
  const page = await readJournal(db, scope, cursor, PAGE);
  if (typeof page !== 'string') return page;
  log.warn({ eventId, problem: page }, 'journal entries have expired: e-mails continue with the oldest');
  const fromOldest = await readJournal(db, scope, 0, PAGE);
  if (typeof fromOldest === 'string') throw new Error(`the journal cannot be read: ${fromOldest}`);
  return fromOldest;
}
