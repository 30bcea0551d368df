import { setTimeout as delay } from 'node:timers/promises';
import { inEachShard, type Database, type MailState } from '@floodgate/database';
import type { Logger } from '@floodgate/service';
import type { Sender } from '../compose/compose-mail.ts';
import { longRound } from '../long-round.ts';
import { isReserved } from '../recipients.ts';
import type { Gate } from '../send/gate.ts';
import type { SendingRate } from '../send/sending-rate.ts';
import type { Attempt, Transport } from '../send/transport.ts';
import { digestOf, findSuppressed, suppress } from '../suppressions.ts';
import { composeNotice } from './compose-notice.ts';
import {
  claimNotice,
  countWaiting,
  findNotice,
  writeOutcome,
  type ClaimedNotice,
  type FoundNotice,
  type NoticeOutcome,
} from './notices.ts';

const MINUTE_MS = 60_000;
/** After how long a notice that was refused for now is tried again, and the last time. */
const RETRY_AFTER_MS = [1, 15, 60, 6 * 60, 24 * 60].map((minutes) => minutes * MINUTE_MS);
/** How soon a contact is found that was missing, or the server is asked again that takes nothing. */
const LOOK_AGAIN_MS = MINUTE_MS;
/** For so long a process tries to note what became of an e-mail, and how often. */
const NOTE_WITHIN_MS = 30_000;
const NOTE_AGAIN_MS = 200;

export interface NoticesOptions {
  db: Database;
  log: Logger;
  transport: Transport;
  sender: Sender;
  /** Those of all e-mails. */
  rate: SendingRate;
  gate: Gate;
  onOutcome: (state: MailState | 'unavailable', reason: string | null) => void;
}

/** Returns what tells partners of webhooks that were given up, one after the other. */
export function createNotices(options: NoticesOptions, stopping: AbortSignal) {
  const { db, gate } = options;
  async function sendOfShard(shardId: number): Promise<void> {
    while (gate.isOpen() && !stopping.aborted) {
      const claimed = await claimNotice(db, shardId);
      if (!claimed) return;
      await settle(options, claimed, stopping);
    }
  }

  return longRound(async () => {
    await inEachShard(db, sendOfShard);
    return 'done';
  });
}

async function settle(options: NoticesOptions, claimed: ClaimedNotice, stopping: AbortSignal): Promise<void> {
  const { db, log } = options;
  const found = await findNotice(db, claimed);
  if (!found) return;
  const skip = skipOf(options.transport, found);
  const outcome = skip
    ? { attempts: claimed.attempts, againInMs: LOOK_AGAIN_MS, ...skip }
    : await tell(options, claimed, found, stopping);
  await note(options, claimed, outcome, stopping);
  const { state, reason } = outcome;
  if (state === 'sent') log.info({ webhook: claimed.id }, 'a partner was told that its webhook was given up');
  if (state === 'undeliverable')
    log.warn({ webhook: claimed.id, reason }, 'a partner cannot be told that its webhook was given up');
}

/** Returns why nobody is told now, if nobody is. */
function skipOf(
  { isOutside }: Transport,
  { state, mode, contact, isOld }: FoundNotice,
): Pick<NoticeOutcome, 'state' | 'reason'> | null {
  if (state !== 'disabled') return { state: 'skipped', reason: 'resumed' };
  // Nobody outside ever hears of a test event.
  if (isOutside && mode === 'test') return { state: 'skipped', reason: 'test event' };
  if (contact !== null && !(isOutside && isReserved(contact))) return null;
  return { state: isOld ? 'skipped' : 'waiting', reason: 'no contact' };
}

/** Sends the e-mail, where the address may have any. */
async function tell(
  options: NoticesOptions,
  claimed: ClaimedNotice,
  found: FoundNotice,
  stopping: AbortSignal,
): Promise<NoticeOutcome> {
  const { db, rate, gate, onOutcome } = options;
  const { attempts } = claimed;
  const digest = digestOf(found.contact!);
  if ((await findSuppressed(db, [digest])).has(digest))
    return { state: 'undeliverable', reason: 'suppressed', attempts, againInMs: 0 };
  if (!(await rate.take(1, stopping))) return { state: 'waiting', reason: null, attempts, againInMs: 0 };
  const attempt = await tryOnce(options, claimed, found);
  gate.hear(attempt);
  const isOfAll = attempt.kind === 'unavailable' || (attempt.kind === 'policy' && !gate.takesOthers());
  if (attempt.kind === 'refused' && attempt.isPermanent)
    await suppress(db, { digest, reason: attempt.reason, eventId: found.eventId });
  const outcome: NoticeOutcome = isOfAll
    ? { state: 'waiting', reason: attempt.reason, attempts, againInMs: LOOK_AGAIN_MS }
    : outcomeOf(attempt, attempts);
  const counted = outcome.state === 'waiting' ? 'retry' : outcome.state;
  onOutcome(isOfAll ? 'unavailable' : counted, outcome.reason);
  return outcome;
}

async function tryOnce(
  { db, log, transport, sender }: NoticesOptions,
  { shardId, id, messageId }: ClaimedNotice,
  found: FoundNotice,
): Promise<Attempt> {
  const waiting = await countWaiting(db, shardId, found);
  const { host, pathname } = new URL(found.url);
  const notice = { ...found, webhookId: id, receiver: host + pathname, waiting };
  try {
    return await transport.send(await composeNotice(notice, { id: messageId, to: found.contact!, sender }));
  } catch (error) {
    // Its message may quote the address.
    log.error(
      { webhook: id, failure: (error as Error).name },
      'an e-mail to a partner could not be composed',
    );
    return { kind: 'refused', isPermanent: false, reason: 'not composed' };
  }
}

function outcomeOf(attempt: Attempt, attempts: number): NoticeOutcome {
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts: attempts + 1, againInMs: 0 };
  const { reason } = attempt;
  const againInMs = RETRY_AFTER_MS[attempts];
  const isOver = (attempt.kind === 'refused' && attempt.isPermanent) || againInMs === undefined;
  return {
    state: isOver ? 'undeliverable' : 'waiting',
    reason,
    attempts: attempts + 1,
    againInMs: againInMs ?? 0,
  };
}

/** Writes down what became of a notice. It goes on trying for a while: what was sent must not be forgotten by who knows it. */
async function note(
  { db, log }: NoticesOptions,
  claimed: ClaimedNotice,
  outcome: NoticeOutcome,
  stopping: AbortSignal,
): Promise<void> {
  const giveUpAt = performance.now() + NOTE_WITHIN_MS;
  for (;;) {
    try {
      return await writeOutcome(db, claimed, outcome);
    } catch (error) {
      if (stopping.aborted || performance.now() > giveUpAt) throw error;
      log.warn(
        { err: error, webhook: claimed.id },
        'what became of an e-mail to a partner cannot be written',
      );
      await delay(NOTE_AGAIN_MS);
    }
  }
}
