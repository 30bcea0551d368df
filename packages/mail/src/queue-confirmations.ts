import { inTransaction, type Database } from '@floodgate/database';
import { hasQueued, queueDeliveries } from '@floodgate/deliveries';
import { CONFIRMATION, findEvent, WAITING_OFFER } from '@floodgate/events';
import { advance, readJournal, release, type Consumer, type RunEnd } from '@floodgate/journal';
import type { Logger } from '@floodgate/service';

/** The kind of e-mail for each kind of journal entry. */
const KINDS = { confirmed: CONFIRMATION, 'waiting.offered': WAITING_OFFER } as const;
type Kind = keyof typeof KINDS;
/** Maximum number of journal entries that are queued at once. */
const PAGE = 1_000;
/**
 * If this many e-mails of a kind and event are due, no more are queued. So the e-mails of a launch do not delay those of other events, and
 * e-mails can be disabled before most of them are queued.
 */
const MOST_QUEUED = 2_000;
const RECHECK_MS = 200;

interface QueueOptions {
  db: Database;
  log: Logger;
  isOutside: boolean;
  /** Called after deliveries were queued. */
  onQueued: () => void;
}

/** Queues an e-mail for each confirmation and offer after the cursor, and advances the cursor in the same transaction. */
export async function queueConfirmations(
  { db, log, isOutside, onQueued }: QueueOptions,
  consumer: Consumer,
): Promise<RunEnd> {
  const { shardId, eventId } = consumer;
  const { mode } = await findEvent(db, eventId);
  const kinds = Object.keys(KINDS) as Kind[];
  for (const kind of kinds)
    if (await hasQueued(db, { shardId, eventId, kind: KINDS[kind] }, MOST_QUEUED)) {
      await release(db, consumer, RECHECK_MS);
      return 'released';
    }
  const page = await readJournal(db, { shardId, eventId, kinds }, consumer.cursor, PAGE);
  if (typeof page === 'string') {
    log.warn(
      { eventId, problem: page },
      'journal entries have expired; e-mails continue with the oldest entry that is kept',
    );
    return (await advance(db, consumer, 0)) ? 'more' : 'released';
  }
  const { entries, cursor, more } = page;
  // E-mails of test events must not leave this machine.
  const wanted = isOutside && mode === 'test' ? [] : entries;
  const subjectsOf = (kind: Kind) =>
    wanted
      .filter((entry) => entry.kind === kind)
      .map(({ serial, at }) => ({ subject: String(serial), since: at }));
  const isAdvanced = await inTransaction(db, async (transaction) => {
    // Advance first, so that a process that has lost the lease queues nothing.
    const isLeased = await advance(transaction, consumer, cursor);
    if (!isLeased) return false;
    for (const kind of kinds)
      await queueDeliveries(transaction, { shardId, eventId, kind: KINDS[kind] }, subjectsOf(kind));
    return true;
  });
  if (!isAdvanced) return 'released';
  if (wanted.length > 0) onQueued();
  return more ? 'more' : 'caught-up';
}
