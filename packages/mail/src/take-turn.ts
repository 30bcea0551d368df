import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import {
  advance,
  LEASE_SECONDS,
  letGo,
  postpone,
  readJournal,
  release,
  renew,
  type Consumer,
  type JournalPage,
  type TurnEnd,
} from '@floodgate/journal';
import type { Logger } from '@floodgate/service';
import { MOST_UNDER_WAY, type Deliverer } from './send-mails.ts';
import { findRecorded } from './mail-deliveries.ts';
import { findMailEvent } from './mail-event.ts';
import type { Task } from './prepare-mails.ts';
import { isStillSent } from './switch.ts';

/** How long e-mails of an event are sent before others have their turn, and how many at most. */
const TURN_MS = 2_000;
const MOST_IN_A_TURN = 5_000;
/** So soon a process notices that e-mails were paused. */
const RENEW_EVERY_MS = 500;
/** How long before its lease ends a process sends nothing more that it does not surely hold. */
const MARGIN_MS = 3_000;
const OTHERS_WRITE_WITHIN_MS = 1_500;
/** How soon an event is looked at again that another process still sends e-mails of. */
const STILL_SENT_AGAIN_MS = 500;

export interface TurnOptions {
  db: Database;
  log: Logger;
  deliverer: Deliverer;
  /** Whether somebody outside gets what is sent. */
  isOutside: boolean;
}

/** Sends e-mails of an event for a while: what the journal has confirmed, and nothing was recorded of yet. */
export async function takeTurn(
  options: TurnOptions,
  consumer: Consumer,
  stopping: AbortSignal,
): Promise<TurnEnd> {
  if (!(await isStillSent(options.db, consumer))) return sendForAWhile(options, consumer, stopping);
  await release(options.db, consumer, STILL_SENT_AGAIN_MS);
  return 'kept';
}

async function sendForAWhile(
  { db, log, deliverer, isOutside }: TurnOptions,
  consumer: Consumer,
  stopping: AbortSignal,
): Promise<TurnEnd> {
  const event = await findMailEvent(db, consumer.eventId);
  if (!event) throw new Error('an event of which e-mails are sent is missing');
  await othersHaveWritten(consumer, stopping);
  const page = await readPage(db, log, consumer);
  // Nobody outside ever hears of a test event. The outbox of npm start is not outside.
  const isSilent = isOutside && event.mode === 'test';
  const tasks = isSilent ? [] : await tasksOf(db, consumer, page);
  const after = { cursor: page.cursor, until: null };
  if (tasks.length === 0) return endOf(await advance(db, consumer, after), page);

  // From now on, whoever takes over knows that some of these may have been sent.
  if (!(await advance(db, consumer, { cursor: consumer.cursor, until: page.cursor }))) return 'kept';
  await using lease = holdLease(db, consumer, stopping);
  const signal = AbortSignal.any([lease.lost, AbortSignal.timeout(TURN_MS), stopping]);
  const settled = await deliverer.deliver(event, tasks, signal);
  const kept = await advance(db, consumer, { cursor: cursorAfter(page, tasks, settled), until: null });
  if (kept && !deliverer.gate.isOpen()) {
    await postpone(db, consumer, deliverer.gate.opensInMs());
    return 'kept';
  }
  if (!kept) await letGo(db, consumer);
  return endOf(kept, { more: page.more || settled.size < tasks.length });
}

/** Waits where something was under way: who was here before may still have outcomes to write, and tries several times a second. */
const othersHaveWritten = async ({ until }: Consumer, stopping: AbortSignal) =>
  until === null ? undefined : delay(OTHERS_WRITE_WITHIN_MS, undefined, { signal: stopping });

const endOf = (kept: boolean, { more }: Pick<JournalPage, 'more'>): TurnEnd =>
  !kept ? 'kept' : more ? 'more' : 'done';

async function readPage(db: Database, log: Logger, { shardId, eventId, cursor }: Consumer) {
  const scope = { shardId, eventId, kinds: ['confirmed'] } as const;
  const page = await readJournal(db, scope, cursor, MOST_IN_A_TURN);
  if (typeof page !== 'string') return page;
  log.warn(
    { eventId, problem: page },
    'the journal is not kept far enough back: e-mails go on with its oldest',
  );
  const fromOldest = await readJournal(db, scope, 0, MOST_IN_A_TURN);
  if (typeof fromOldest === 'string') throw new Error(`the journal cannot be read: ${fromOldest}`);
  return fromOldest;
}

/** Returns what is to be sent of a page. The first of those that were under way when their process was lost are doubtful. */
async function tasksOf(db: Database, consumer: Consumer, { entries }: JournalPage): Promise<Task[]> {
  if (entries.length === 0) return [];
  const { shardId, eventId, until } = consumer;
  // The first entry of each registration: a journal may hold several, and the attendee gets one e-mail.
  const firstEntries = new Map(entries.toReversed().map((entry) => [entry.serial!, entry]));
  const recorded = await findRecorded(db, shardId, eventId, [...firstEntries.keys()]);
  return entries
    .filter((entry) => firstEntries.get(entry.serial!) === entry && !recorded.has(entry.serial!))
    .map(({ serial, offset, at: since }, index) => {
      const isDoubtful = until !== null && offset <= until && index < MOST_UNDER_WAY;
      return { serial: serial!, since, attempts: 0, isDoubtful };
    });
}

/** Returns how far everything is settled. */
function cursorAfter(page: JournalPage, tasks: readonly Task[], settled: ReadonlySet<number>): number {
  const left = tasks.find(({ serial }) => !settled.has(serial));
  if (!left) return page.cursor;
  return page.entries.find(({ serial }) => serial === left.serial)!.offset - 1;
}

/** Keeps a lease until it is disposed of. `lost` is aborted when it is no longer surely ours. */
function holdLease(db: Database, consumer: Consumer, stopping: AbortSignal) {
  const lost = new AbortController();
  let renewedAt = performance.now();
  let renewing: Promise<void> = Promise.resolve();
  const renewNow = async () => {
    const startedAt = performance.now();
    const isKept = await renew(db, consumer).catch(() => null);
    if (isKept === false) lost.abort();
    if (isKept) renewedAt = startedAt;
  };
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > LEASE_SECONDS * 1_000 - MARGIN_MS) lost.abort();
    if (!stopping.aborted) renewing = renewing.then(renewNow);
  }, RENEW_EVERY_MS);
  return {
    lost: lost.signal,
    [Symbol.asyncDispose]: () => {
      clearInterval(timer);
      return renewing;
    },
  };
}
