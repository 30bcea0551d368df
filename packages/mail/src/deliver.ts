import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { qrPng, type PassSigner } from '@floodgate/passes';
import { createComposer, type Sender } from './compose.ts';
import type { Delivery } from './deliveries.ts';
import type { MailEvent } from './mail-event.ts';
import { isReserved, readRecipients, type Recipient } from './recipients.ts';
import { createGate, type Gate } from './send/gate.ts';
import type { OutcomeWriter } from './send/outcome-writer.ts';
import type { SendingRate } from './send/sending-rate.ts';
import type { Attempt, ComposedMail, Transport } from './send/transport.ts';
import { digestOf, findSuppressed } from './suppressions.ts';

/**
 * E-mails of a process that are under way, or sent, while that is not yet committed: if it died now, so many might be sent a second
 * time at most.
 */
export const MOST_UNDER_WAY = 100;
/** Read together, right before they are sent: who has cancelled by then gets none. */
const CHUNK = 25;

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

export interface DelivererOptions {
  db: Database;
  transport: Transport;
  passes: PassSigner;
  rate: SendingRate;
  sender: Sender;
  outcomes: OutcomeWriter;
  /** Told of each outcome, and of an e-mail that could not be made, for a reason of ours. */
  onOutcome: (state: Delivery['state'] | 'unavailable', reason: string | null) => void;
  onError: (error: Error, eventId: number) => void;
}

export type Deliverer = ReturnType<typeof createDeliverer>;

/** Returns what sends e-mails about registrations. All that a process sends goes through one. */
export function createDeliverer(options: DelivererOptions) {
  const gate = createGate();
  const room = createRoom(MOST_UNDER_WAY);
  return {
    gate,
    /**
     * Sends e-mails about registrations of an event, until it is aborted or the server takes no more. Resolves to the serials of
     * those for which nothing more is to be done here, once all that was begun has ended.
     */
    async deliver(event: MailEvent, tasks: readonly Task[], signal: AbortSignal): Promise<Set<number>> {
      const settled = new Set<number>();
      const underWay = new Set<Promise<void>>();
      const sendOne = createSending(options, event, gate);
      for (let at = 0; at < tasks.length && gate.isOpen();) {
        const permitted = await options.rate(Math.min(CHUNK, tasks.length - at), signal);
        if (permitted === 0) break;
        const chunk = tasks.slice(at, (at += permitted));
        const found = await readChunk(options.db, event, chunk);
        for (const task of chunk) {
          await room.enter();
          // While it waited: the server may have closed, or the process have to stop.
          if (signal.aborted || !gate.isOpen()) {
            room.leave();
            break;
          }
          const sending = sendOne(task, found(task))
            .then((isSettled) => void (isSettled && settled.add(task.serial)))
            // Not written down as the process stops: it counts as under way, and is looked at again.
            .catch((error: Error) => options.onError(error, event.id))
            .finally(() => (room.leave(), underWay.delete(sending)));
          underWay.add(sending);
          // Composing takes long enough for connections to wait.
          await yieldToOthers();
        }
      }
      await Promise.all(underWay);
      return settled;
    },
  };
}

/** What is known of a registration right before its e-mail is sent. */
interface Found {
  recipient: Recipient | undefined;
  digest: string;
  isSuppressed: boolean;
}

async function readChunk(db: Database, event: MailEvent, chunk: readonly Task[]) {
  const recipients = await readRecipients(
    db,
    event,
    chunk.map(({ serial }) => serial),
  );
  const bySerial = new Map(recipients.map((recipient) => [recipient.serial, recipient]));
  const digests = new Map(recipients.map(({ serial, emailAddress }) => [serial, digestOf(emailAddress)]));
  const suppressed = await findSuppressed(db, [...digests.values()]);
  return ({ serial }: Task): Found => {
    const digest = digests.get(serial) ?? '';
    return { recipient: bySerial.get(serial), digest, isSuppressed: suppressed.has(digest) };
  };
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
function createSending(options: DelivererOptions, event: MailEvent, gate: Gate) {
  const { transport, passes, sender, outcomes, onOutcome, onError } = options;
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
      onError(error as Error, event.id);
      return { kind: 'refused', isPermanent: false, reason: 'not composed' };
    }
    return transport.send(mail);
  }

  return async function sendOne(task: Task, found: Found): Promise<boolean> {
    let outcome = skipOf(transport, found);
    if (!outcome) {
      const tried = await attempt(found.recipient!);
      if (tried.kind === 'sent') gate.pass();
      if (tried.kind === 'unavailable') {
        gate.close();
        onOutcome('unavailable', tried.reason);
      }
      outcome = outcomeOf(tried, task);
      if (tried.kind === 'refused' && tried.isPermanent) outcome.suppressed = found.digest;
    }
    const { isDoubtful = task.isDoubtful, attempts = task.attempts, retryInMs = null, suppressed } = outcome;
    const isNothing = outcome.state === 'retry' && !isDoubtful && attempts === 0;
    if (isNothing) return false;
    const { shardId, id: eventId } = event;
    const { state, reason } = outcome;
    const delivery = {
      shardId,
      eventId,
      serial: task.serial,
      state,
      reason,
      attempts,
      isDoubtful,
      retryInMs,
    };
    await outcomes.write(delivery, suppressed);
    onOutcome(state, reason);
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

/** Lets so many in at once; the others wait in line. */
function createRoom(size: number) {
  const line: (() => void)[] = [];
  let inside = 0;
  return {
    async enter(): Promise<void> {
      if (inside < size) return void (inside += 1);
      // Who leaves hands over the place.
      await new Promise<void>((resolve) => line.push(resolve));
    },
    leave(): void {
      const next = line.shift();
      if (next) next();
      else inside -= 1;
    },
  };
}
