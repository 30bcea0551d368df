import { inTransaction, type Database, type JournalKind } from '@floodgate/database';
import { hasQueued, queueDeliveries, traceDeliveries, type NewDelivery } from '@floodgate/deliveries';
import { CANCELLATION, CONFIRMATION, findEvent, WAITING_OFFER, type Event } from '@floodgate/events';
import {
  advance,
  readJournal,
  release,
  type Consumer,
  type JournalEntry,
  type RunEnd,
} from '@floodgate/journal';
import type { Logger } from '@floodgate/service';

// The run of a mail consumer. It sends nothing: it queues a delivery for each confirmation, offer and
// cancellation in the journal of an event, and the loop that sends them is woken.

/** The kind of e-mail for each kind of journal entry. */
const MAIL_OF_ENTRY = new Map<JournalKind, string>([
  ['confirmed', CONFIRMATION],
  ['waiting.offered', WAITING_OFFER],
  ['cancelled', CANCELLATION],
]);
/** The reason of an e-mail about a cancellation that the event's settings exclude. */
export const SWITCHED_OFF = 'switched off';

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
  const event = await findEvent(db, eventId);
  const filter = { shardId, eventId, kinds: [...MAIL_OF_ENTRY.keys()] };
  const page = await readJournal(db, filter, consumer.cursor, ENTRIES_PER_PAGE);
  const isExpired = typeof page === 'string';
  if (isExpired) log.warn({ eventId, problem: page }, EXPIRED);
  const { entries, cursor, more } = isExpired ? { entries: [], cursor: 0, more: true } : page;
  // E-mails of test events must not leave this machine.
  const wanted = isOutside && event.mode === 'test' ? [] : entries;
  const isCancelled = ({ kind }: JournalEntry) => kind === 'cancelled';
  const deliveries = wanted.filter((entry) => !isCancelled(entry)).map(deliveryOf);
  // Neither those of expired holds and changed attendees, nor those that an older release has published.
  const cancelled = wanted.filter((entry) => isCancelled(entry) && entry.byOperator !== null);
  const isAdvanced = await inTransaction(db, async (transaction) => {
    // Advance first, so that a process that has lost the lease queues nothing.
    if (!(await advance(transaction, consumer, cursor))) return false;
    await queueDeliveries(transaction, consumer, deliveries);
    await queueCancellations(transaction, event, cancelled);
    return true;
  });
  if (!isAdvanced) return 'released';
  if (deliveries.length + cancelled.length > 0) onQueued(shardId);
  // The lease is released by a statement of its own, so that the transaction is short: its lock can delay
  // others that find news.
  return more ? 'more' : 'caught-up';
}

const deliveryOf = ({ kind, serial, at }: JournalEntry): NewDelivery => ({
  kind: MAIL_OF_ENTRY.get(kind)!,
  subject: String(serial),
  since: at,
});

/**
 * Queues an e-mail for each cancelled registration with a confirmation, which is queued already because its
 * entry is earlier. A cancellation that the settings exclude gets a row as well. Otherwise it would be sent
 * if the journal is read again with other settings.
 */
async function queueCancellations(db: Database, event: Event, entries: readonly JournalEntry[]) {
  const queue = { shardId: event.shardId, eventId: event.id, kind: CONFIRMATION };
  const subjects = entries.map(({ serial }) => String(serial));
  const confirmations = await traceDeliveries(db, queue, subjects);
  const deliveries = entries.map((entry): NewDelivery => {
    const isWanted = entry.byOperator ? event.mailOperatorCancels : event.mailPartnerCancels;
    return { ...deliveryOf(entry), ...(!isWanted && { unwanted: SWITCHED_OFF }) };
  });
  await queueDeliveries(
    db,
    queue,
    deliveries.filter(({ subject }) => confirmations.has(subject)),
  );
}

async function hasBacklog(db: Database, { shardId, eventId }: Consumer): Promise<boolean> {
  for (const kind of MAIL_OF_ENTRY.values())
    if (await hasQueued(db, { shardId, eventId, kind }, MAX_QUEUED)) return true;
  return false;
}
