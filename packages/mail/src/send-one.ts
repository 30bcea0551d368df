import { qrPng, type PassSigner } from '@floodgate/passes';
import { createComposer, type Sender } from './compose.ts';
import type { Delivery } from './deliveries.ts';
import type { MailEvent } from './mail-event.ts';
import { isReserved, type Recipient } from './recipients.ts';
import type { Gate } from './send/gate.ts';
import type { OutcomeWriter } from './send/outcome-writer.ts';
import type { Attempt, ComposedMail, Transport } from './send/transport.ts';

/** After how long an e-mail that was refused for now is tried again, and the last time. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * 60_000);
const RETRY_DOUBTFUL_AFTER_MS = RETRY_AFTER_MS[0]!;

/** An e-mail that is to be sent. */
export interface Task {
  serial: number;
  /** Attempts that were refused for now. */
  attempts: number;
  /** It may have been sent before. */
  isDoubtful: boolean;
}

export interface SendingOptions {
  transport: Transport;
  passes: PassSigner;
  sender: Sender;
  outcomes: OutcomeWriter;
  /** Told of each outcome, and of an e-mail that could not be made, for a reason of ours. */
  onOutcome: (state: Delivery['state'] | 'unavailable', reason: string | null) => void;
  onError: (error: Error, eventId: number) => void;
}

/** What is known of a registration right before its e-mail is sent. */
export interface Found {
  recipient: Recipient | undefined;
  digest: string;
  isSuppressed: boolean;
}

type Outcome = Pick<Delivery, 'state' | 'reason'> &
  Partial<Pick<Delivery, 'attempts' | 'isDoubtful'>> & {
    retryInMs?: number;
    /** What is known of an address that was refused for good. */
    suppressed?: string;
  };

/** Returns why there is nothing to send, if there is nothing. */
function skipOf({ isOutside }: Transport, { recipient, isSuppressed }: Found): Outcome | null {
  if (!recipient) return { state: 'skipped', reason: 'missing' };
  if (recipient.isCancelled) return { state: 'skipped', reason: 'cancelled' };
  if (isSuppressed) return { state: 'undeliverable', reason: 'suppressed' };
  if (isOutside && isReserved(recipient.emailAddress))
    return { state: 'skipped', reason: 'reserved address' };
  return null;
}

/** Returns what sends one e-mail and commits what came of it. It resolves to whether nothing more is to be done. */
export function createSending(options: SendingOptions, event: MailEvent, gate: Gate) {
  const { transport, passes, sender, outcomes, onOutcome, onError } = options;
  const { shardId, id: eventId } = event;
  const compose = createComposer(event, sender);

  async function composeFor(recipient: Recipient): Promise<ComposedMail> {
    const { ticketId, serial } = recipient;
    return compose(recipient, qrPng(await passes.tokenFor({ event, ticketId, serial })));
  }

  async function attempt(recipient: Recipient): Promise<Attempt> {
    let mail: ComposedMail;
    try {
      mail = await composeFor(recipient);
    } catch (error) {
      // Its message may quote the attendee.
      onError(new Error(`an e-mail could not be composed: ${(error as Error).name}`), eventId);
      return { kind: 'refused', isPermanent: false, reason: 'not composed' };
    }
    return transport.send(mail);
  }

  async function tryOne(task: Task, { recipient, digest }: Found): Promise<Outcome> {
    const tried = await attempt(recipient!);
    if (tried.kind === 'sent') gate.pass();
    if (tried.kind === 'unavailable') {
      gate.close();
      onOutcome('unavailable', tried.reason);
    }
    const isForGood = tried.kind === 'refused' && tried.isPermanent;
    return { ...outcomeOf(tried, task), ...(isForGood && { suppressed: digest }) };
  }

  return async function sendOne(task: Task, found: Found): Promise<boolean> {
    const { suppressed, ...outcome } = skipOf(transport, found) ?? (await tryOne(task, found));
    const { serial, attempts, isDoubtful } = task;
    const delivery = { shardId, eventId, serial, attempts, isDoubtful, retryInMs: null, ...outcome };
    // Nothing has happened yet.
    if (delivery.state === 'retry' && !delivery.isDoubtful && delivery.attempts === 0) return false;
    await outcomes.write(delivery, suppressed);
    onOutcome(delivery.state, delivery.reason);
    return true;
  };
}

function outcomeOf(attempt: Attempt, task: Task): Outcome {
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts: task.attempts + 1 };
  const { reason } = attempt;
  // Costs no attempt.
  if (attempt.kind === 'unavailable')
    return {
      state: 'retry',
      reason,
      retryInMs: RETRY_DOUBTFUL_AFTER_MS,
      isDoubtful: attempt.isDoubtful || task.isDoubtful,
    };
  const attempts = task.attempts + 1;
  const retryInMs = RETRY_AFTER_MS[task.attempts];
  if (attempt.isPermanent || retryInMs === undefined) return { state: 'undeliverable', reason, attempts };
  return { state: 'retry', reason, attempts, retryInMs };
}
