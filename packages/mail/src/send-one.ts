import type { Delivery } from './mail-deliveries.ts';
import type { MailEvent } from './mail-event.ts';
import type { PreparedMail, Task } from './prepare-mails.ts';
import type { Gate } from './send/gate.ts';
import type { OutcomeWriter } from './send/outcome-writer.ts';
import type { Attempt, Transport } from './send/transport.ts';

/** After how long an e-mail that was refused for now is tried again, and the last time. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * 60_000);
const HOUR_MS = 3_600_000;
/** For so long after its confirmation an e-mail is tried that the server takes from nobody, or not now. */
const GIVEN_UP_AFTER_MS = 5 * 24 * HOUR_MS;
/** An e-mail is handed over whole so many times at most, where the server never says that it has it. */
const MOST_IN_DOUBT = 3;

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

const NOT_COMPOSED: Attempt = { kind: 'refused', isPermanent: false, reason: 'not composed' };

const isUntouched = ({ isDoubtful, attempts }: Task) => !isDoubtful && attempts === 0;

/** Of e-mails that were not taken, nor noted: how many others were taken before that. By event and registration. */
type Passed = Map<string, number>;

/** Returns what sends e-mails, one by one, and commits what came of each. All of a process go through one. */
export function createSending({ transport, outcomes, onOutcome }: SendingOptions, gate: Gate) {
  const passedBefore: Passed = new Map();

  /** Whether others were taken since this one was not: then it is about this one, whatever the server says. */
  function isAboutThis(key: string): boolean {
    const before = passedBefore.get(key);
    if (before === undefined) passedBefore.set(key, gate.passed());
    return before !== undefined && gate.passed() > before;
  }

  /** Tells others what an attempt says about the server. */
  function tell(tried: Attempt): void {
    if (tried.kind === 'sent') gate.pass();
    if (tried.kind !== 'unavailable') return;
    gate.close();
    onOutcome('unavailable', tried.reason);
  }

  /** Resolves to what became of an e-mail. Null: nothing has happened yet, and it is tried first when the server takes e-mails again. */
  async function tryOne(key: string, { task, digest, content }: PreparedMail): Promise<Outcome | null> {
    if (content && 'skip' in content) return content.skip;
    const tried = content ? await transport.send(content.mail) : NOT_COMPOSED;
    tell(tried);
    const isWaiting = tried.kind === 'unavailable' && !tried.isDoubtful && isUntouched(task);
    if (isWaiting && !isAboutThis(key)) return null;
    const isForGood = tried.kind === 'refused' && tried.isPermanent;
    return { ...outcomeOf(tried, task), ...(isForGood && { suppressed: digest }) };
  }

  /** Resolves to whether nothing more is to be done. */
  return async function sendOne(
    { shardId, id: eventId }: Pick<MailEvent, 'shardId' | 'id'>,
    prepared: PreparedMail,
  ): Promise<boolean> {
    const key = `${eventId} ${prepared.task.serial}`;
    const outcome = await tryOne(key, prepared);
    if (!outcome) return false;
    passedBefore.delete(key);
    const { suppressed, ...became } = outcome;
    const delivery = { ...prepared.task, shardId, eventId, retryInMs: null, ...became };
    await outcomes.write(delivery, suppressed);
    onOutcome(delivery.state, delivery.reason);
    return true;
  };
}

function outcomeOf(attempt: Attempt, task: Task): Outcome {
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts: task.attempts + 1 };
  if (attempt.kind === 'unavailable' && !attempt.isDoubtful) return notTaken(attempt, task);
  const { reason } = attempt;
  const attempts = task.attempts + 1;
  const isDoubtful = task.isDoubtful || attempt.kind === 'unavailable';
  // It was handed over whole, again and again: whoever gets it has it.
  if (attempt.kind === 'unavailable' && attempts >= MOST_IN_DOUBT)
    return { state: 'sent', reason: `${reason}, ${attempts} times`, attempts, isDoubtful };
  const retryInMs = RETRY_AFTER_MS[task.attempts];
  const isPermanent = attempt.kind === 'refused' && attempt.isPermanent;
  if (isPermanent || retryInMs === undefined) return { state: 'undeliverable', reason, attempts, isDoubtful };
  return { state: 'retry', reason, attempts, isDoubtful, retryInMs };
}

/** What becomes of an e-mail that the server does not take, while it may take others. It costs no attempt, and ends nevertheless. */
function notTaken(
  { isPermanent, reason }: Attempt & { kind: 'unavailable' },
  { since, isDoubtful }: Task,
): Outcome {
  if (Date.now() - since.getTime() > GIVEN_UP_AFTER_MS) return { state: 'undeliverable', reason, isDoubtful };
  return { state: 'retry', reason, isDoubtful, retryInMs: isPermanent ? HOUR_MS : RETRY_AFTER_MS[0]! };
}
