import type { Delivery } from './mail-deliveries.ts';
import type { MailEvent } from './mail-event.ts';
import type { PreparedMail, Task } from './prepare-mails.ts';
import type { Gate } from './send/gate.ts';
import type { OutcomeWriter } from './send/outcome-writer.ts';
import type { Attempt, Transport } from './send/transport.ts';

/** After how long an e-mail that was refused for now is tried again, and the last time. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * 60_000);
const RETRY_DOUBTFUL_AFTER_MS = RETRY_AFTER_MS[0]!;

export interface SendingOptions {
  transport: Transport;
  outcomes: OutcomeWriter;
  /** Told of each outcome. */
  onOutcome: (state: Delivery['state'] | 'unavailable', reason: string | null) => void;
}

type Outcome = Pick<Delivery, 'state' | 'reason'> &
  Partial<Pick<Delivery, 'attempts' | 'isDoubtful'>> & {
    retryInMs?: number;
    /** What is known of an address that was refused for good. */
    suppressed?: string;
  };

/** Returns what sends one e-mail and commits what came of it. It resolves to whether nothing more is to be done. */
export function createSending(options: SendingOptions, { shardId, id: eventId }: MailEvent, gate: Gate) {
  const { transport, outcomes, onOutcome } = options;

  async function tryOne({ task, digest, content }: PreparedMail): Promise<Outcome> {
    if (content && 'skip' in content) return content.skip;
    const tried: Attempt = content
      ? await transport.send(content.mail)
      : { kind: 'refused', isPermanent: false, reason: 'not composed' };
    if (tried.kind === 'sent') gate.pass();
    if (tried.kind === 'unavailable') {
      gate.close();
      onOutcome('unavailable', tried.reason);
    }
    const isForGood = tried.kind === 'refused' && tried.isPermanent;
    return { ...outcomeOf(tried, task), ...(isForGood && { suppressed: digest }) };
  }

  return async function sendOne(prepared: PreparedMail): Promise<boolean> {
    const { suppressed, ...outcome } = await tryOne(prepared);
    const delivery = { ...prepared.task, shardId, eventId, retryInMs: null, ...outcome };
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
