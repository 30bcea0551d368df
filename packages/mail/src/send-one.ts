import type { Delivery } from './mail-deliveries.ts';
import type { MailEvent } from './mail-event.ts';
import type { PreparedMail, Task } from './prepare-mails.ts';
import type { Gate } from './send/gate.ts';
import type { OutcomeWriter } from './send/outcome-writer.ts';
import type { Attempt, Transport } from './send/transport.ts';

/** After how long an e-mail that was refused for now is tried again, and the last time. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * 60_000);
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

/** It is tried again soon, and has as many attempts left as before. */
const atNoCost = (reason: string): Outcome => ({ state: 'retry', reason, retryInMs: RETRY_AFTER_MS[0]! });

const isUntouched = ({ isDoubtful, attempts }: Task) => !isDoubtful && attempts === 0;

/** So many of these are remembered, the newest. Other processes may settle the rest. */
const MOST_REMEMBERED = 10_000;
/** Of e-mails that were not taken: how many others had been, the first time. By event and registration. */
type Passed = Map<string, number>;

/** Returns what sends e-mails, one by one, and commits what came of each. All of a process go through one. */
export function createSending({ transport, outcomes, onOutcome }: SendingOptions, gate: Gate) {
  const passedBefore: Passed = new Map();

  /** Whether others were taken since this one was not: then it is about this one, whatever the server says. */
  function isAboutThis(key: string): boolean {
    const before = passedBefore.get(key);
    if (before === undefined) passedBefore.set(key, gate.passed());
    if (passedBefore.size > MOST_REMEMBERED) passedBefore.delete(passedBefore.keys().next().value!);
    return before !== undefined && gate.passed() > before;
  }

  /** Whether the server may have said it to any e-mail. */
  function isOfAll(key: string, tried: Attempt): boolean {
    // Judged again when it is tried again.
    if (tried.kind === 'policy') return !gate.takesOthers();
    return tried.kind === 'unavailable' && !tried.isDoubtful && !isAboutThis(key);
  }

  /** Tells others what an attempt says about the server. */
  function tell(tried: Attempt): void {
    gate.hear(tried);
    if (tried.kind === 'unavailable' || (tried.kind === 'policy' && !gate.isOpen()))
      onOutcome('unavailable', tried.reason);
  }

  /** Resolves to what became of an e-mail. Null: nothing has happened yet, and it is tried first when the server takes e-mails again. */
  async function tryOne(key: string, { task, digest, content }: PreparedMail): Promise<Outcome | null> {
    if (content && 'skip' in content) return content.skip;
    const tried = content ? await transport.send(content.mail) : NOT_COMPOSED;
    tell(tried);
    if (tried.kind !== 'sent' && isOfAll(key, tried))
      return tried.kind === 'unavailable' && isUntouched(task) ? null : atNoCost(tried.reason);
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
    const { suppressed, ...became } = outcome;
    if (became.state !== 'retry') passedBefore.delete(key);
    const delivery = { ...prepared.task, shardId, eventId, retryInMs: null, ...became };
    await outcomes.write(delivery, suppressed);
    onOutcome(delivery.state, delivery.reason);
    return true;
  };
}

function outcomeOf(attempt: Attempt, task: Task): Outcome {
  const attempts = task.attempts + 1;
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts };
  const { reason } = attempt;
  const isInDoubt = attempt.kind === 'unavailable' && attempt.isDoubtful;
  const isDoubtful = task.isDoubtful || isInDoubt;
  // It was handed over whole, again and again: whoever gets it has it.
  if (isInDoubt && attempts >= MOST_IN_DOUBT)
    return { state: 'sent', reason: `${reason}, ${attempts} times`, attempts, isDoubtful };
  const retryInMs = RETRY_AFTER_MS[task.attempts];
  const isPermanent = attempt.kind === 'refused' && attempt.isPermanent;
  if (isPermanent || retryInMs === undefined) return { state: 'undeliverable', reason, attempts, isDoubtful };
  return { state: 'retry', reason, attempts, isDoubtful, retryInMs };
}
