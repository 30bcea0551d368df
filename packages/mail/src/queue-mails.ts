import { inTransaction, type Database, type JournalKind } from '@floodgate/database';
import { hasQueued, queueDeliveries, type NewDelivery } from '@floodgate/deliveries';
import { CONFIRMATION, findEvent, WAITING_OFFER } from '@floodgate/events';
import { advance, readJournal, release, type Consumer, type RunEnd } from '@floodgate/journal';
import type { Logger } from '@floodgate/service';

// The run of a mail consumer. It sends nothing: it queues a delivery for each confirmation and each offer in
// the journal of an event, and the loop that sends them is woken.

/** The kind of e-mail for each kind of journal entry. */
const MAIL_OF_ENTRY = new Map<JournalKind, string>([
  ['confirmed', CONFIRMATION],
  ['waiting.offered', WAITING_OFFER],
]);

/** Events whose journal a process reads at the same time. */
export const MAX_CONCURRENT_EVENTS = 4;
/** If a process dies while it queues a page, another process reads the page again after this time. */
export const PAGE_LEASE_SECONDS = 5;
/** Maximum number of journal entries that one transaction queues. */
const ENTRIES_PER_PAGE = 1_000;
/**
 * If this many e-mails of a kind and event are due, no more are queued. So the e-mails of a launch do not
 * delay those of other events, and e-mails can be disabled before most of them are queued.
 */
const MAX_QUEUED = 2_000;
const RECHECK_MS = 200;
const EXPIRED = 'journal entries have expired; e-mails continue with the oldest entry that is kept';

export interface QueueMailsOptions {
  db: Database;
  log: Logger;
  /** Whether e-mails leave this machine. */
  isOutside: boolean;
  /** Called after a commit that has queued e-mails in this shard. */
  onQueued: (shardId: number) => void;
}

/**
 * Queues an e-mail for each entry of the next page of an event, and advances the cursor in the same
 * transaction. So no entry is lost, and none is queued twice.
 */
export async function queueMails(options: QueueMailsOptions, consumer: Consumer): Promise<RunEnd> {
  const { db, log, isOutside, onQueued } = options;
  const { shardId, eventId } = consumer;
  if (await hasBacklog(db, consumer)) {
    await release(db, consumer, RECHECK_MS);
    return 'released';
  }
  const { mode } = await findEvent(db, eventId);
  const filter = { shardId, eventId, kinds: [...MAIL_OF_ENTRY.keys()] };
  const page = await readJournal(db, filter, consumer.cursor, ENTRIES_PER_PAGE);
  const isExpired = typeof page === 'string';
  if (isExpired) log.warn({ eventId, problem: page }, EXPIRED);
  const { entries, cursor, more } = isExpired ? { entries: [], cursor: 0, more: true } : page;
  // E-mails of test events must not leave this machine.
  const wanted = isOutside && mode === 'test' ? [] : entries;
  const deliveries = wanted.map(({ kind, serial, at }): NewDelivery => {
    return { kind: MAIL_OF_ENTRY.get(kind)!, subject: String(serial), since: at };
  });
  const isAdvanced = await inTransaction(db, async (transaction) => {
    // Advance first, so that a process that has lost the lease queues nothing.
    if (!(await advance(transaction, consumer, cursor))) return false;
    await queueDeliveries(transaction, consumer, deliveries);
    return true;
  });
  if (!isAdvanced) return 'released';
  if (deliveries.length > 0) onQueued(shardId);
  // The lease is released by a statement of its own, so that the transaction is short: its lock can delay
  // others that find news.
  return more ? 'more' : 'caught-up';
}

async function hasBacklog(db: Database, { shardId, eventId }: Consumer): Promise<boolean> {
  for (const kind of MAIL_OF_ENTRY.values())
    if (await hasQueued(db, { shardId, eventId, kind }, MAX_QUEUED)) return true;
  return false;
}
