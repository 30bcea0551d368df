import type { EVENT_KINDS } from '@floodgate/events';

// The outcome of an e-mail in words for an operator: why it did not arrive, and what to do.

/** An e-mail that did not arrive, or that is not sent yet. */
export interface Undelivered {
  kind: (typeof EVENT_KINDS)[number];
  state: 'undeliverable' | 'suppressed' | 'waiting';
  /** A code of the SMTP server, or one of our own. Null: none. */
  reason: string | null;
  /** Null: a contact of a waiting list. */
  passReference: string | null;
  /** Why the address gets no e-mails at all. Undefined: it gets them. */
  suppression?: { digest: string; at: Date; reason: string } | undefined;
}

/** Our own codes, and those of the server's connection. */
const OWN: Record<string, string> = {
  address: 'the address is not valid',
  suppressed: 'the address was refused permanently before',
  'reserved address': 'the address ends in .invalid, .example or .test, which no mailbox has',
  'test event': 'nothing about a test event is sent to attendees',
  'process died': 'the delivery process died in each attempt',
  'not rendered': 'the e-mail could not be composed',
  'switched off': 'the settings of the event exclude e-mails about such a cancellation',
  'no confirmation': 'the attendee was sent no pass, so there is nothing to call off',
  cancelled: 'the registration was cancelled before the e-mail was sent',
  'offer ended': 'the offer ended before the e-mail was sent',
  missing: 'the registration does not exist any more',
};

/** Enhanced codes of RFC 3463 without their class, the longest first. */
const ENHANCED: readonly (readonly [code: RegExp, words: string])[] = [
  [/^1\.(?:2|10)$/, 'the domain of the address does not exist or accepts no e-mails'],
  [/^1\.6$/, 'the mailbox has moved'],
  [/^1\.[78]$/, 'the address of the sender was refused'],
  [/^1\./, 'the address does not exist'],
  [/^2\.1$/, 'the mailbox is disabled or does not accept e-mails'],
  [/^2\.2$/, 'the mailbox is full'],
  [/^2\./, 'the mailbox cannot be used'],
  [/^[34]\./, 'a mail server or the way to it is overloaded or out of order'],
  [/^7\./, 'the server refused the e-mail by its policy'],
];
/** Codes of SMTP (RFC 5321) without an enhanced one. */
const BASIC: Record<string, string> = {
  '450': 'the mailbox cannot be used now',
  '451': 'the server has an error now',
  '452': 'the server has no space now',
  '550': 'the server refused the address',
  '551': 'the mailbox has moved',
  '552': 'the mailbox is full',
  '553': 'the server refused the form of the address',
};

/** Returns why an e-mail did not arrive, in words; null if there is no reason. */
export function whyOf(reason: string | null): string | null {
  if (reason === null) return null;
  const own = OWN[reason];
  if (own) return own;
  const [, basic, enhanced] = /^(\d{3})(?: \d\.(\d+\.\d+))?/.exec(reason) ?? [];
  const words = enhanced && ENHANCED.find(([code]) => code.test(enhanced))?.[1];
  if (words) return words;
  if (basic) return BASIC[basic] ?? 'the server refused the e-mail';
  return 'the SMTP server cannot be used';
}

/** Reasons that another address solves. */
const OF_ADDRESS = /^(?:address$|reserved address$|\d{3} \d\.1\.(?![78])|55[013]$)/;
/** Reasons that concern the sender, not the address. */
const OF_SENDER = /^\d{3} \d\.(?:7\.|1\.[78]$)/;

/** The operator's remedy for an e-mail that did not arrive. */
export type Step =
  /** It was never meant to leave this machine. */
  | 'nothing'
  /** It is tried again automatically. */
  | 'automatic'
  /** Lift the suppression of the address. */
  | 'lift'
  /** The suppression was lifted meanwhile. */
  | 'lifted'
  | 'correct-address'
  /** A contact of a waiting list: only the partner knows another address. */
  | 'ask-partner'
  | 'ask-smtp-provider'
  | 'read-log'
  | 'wait'
  | 'send-again'
  /** An offer ends, so nobody sends it again. */
  | 'tell-partner';

/** Returns what an operator can do, step by step. */
export function stepsOf({ state, reason, passReference, suppression }: Undelivered): Step[] {
  if (reason === 'test event') return ['nothing'];
  if (state === 'waiting') return ['automatic'];
  const again = passReference === null ? 'tell-partner' : 'send-again';
  if (state === 'suppressed' && (suppression || reason === 'suppressed'))
    return [suppression ? 'lift' : 'lifted', again];
  return [...stepsBefore(reason, passReference, suppression), again];
}

function stepsBefore(
  reason: string | null,
  passReference: string | null,
  suppression: Undelivered['suppression'],
): Step[] {
  if (reason !== null && OF_ADDRESS.test(reason))
    return [passReference === null ? 'ask-partner' : 'correct-address'];
  return suppression ? [causeOf(reason), 'lift'] : [causeOf(reason)];
}

function causeOf(reason: string | null): Step {
  if (reason !== null && OF_SENDER.test(reason)) return 'ask-smtp-provider';
  if (reason === 'process died' || reason === 'not rendered') return 'read-log';
  return 'wait';
}

/** Returns what an operator can do, in words and with the command. */
export function remedyOf(undelivered: Undelivered): string {
  const steps = stepsOf(undelivered).map((step) => stepText(step, undelivered));
  return steps.join(', then ').replace('was lifted, then', 'was lifted:');
}

/** Returns the same in both forms, and the digest of the address if it gets no e-mails at all. */
export const remediesOf = (undelivered: Undelivered) => ({
  remedy: remedyOf(undelivered),
  steps: stepsOf(undelivered),
  suppressionDigest: undelivered.suppression?.digest ?? null,
});

function stepText(step: Step, { kind, passReference, suppression }: Undelivered): string {
  if (step === 'lift')
    return (
      `suppressed since ${suppression!.at.toISOString().slice(0, 10)} (${suppression!.reason}): ` +
      `lift with "floodgate mail suppressions remove ${suppression!.digest}"`
    );
  if (step === 'correct-address')
    return `correct the address with "floodgate registration correct ${passReference} --email-address <address>"`;
  if (step !== 'send-again') return STEP_TEXTS[step];
  const ofKind = kind === 'confirmation' ? '' : ` --kind ${kind}`;
  return `send it again with "floodgate mail resend ${passReference}${ofKind}"`;
}

const STEP_TEXTS = {
  nothing: 'nothing to do',
  automatic: 'it is tried again automatically; if the cause stays, correct that',
  lifted: 'the suppression was lifted',
  'ask-partner': 'ask the partner for another address',
  'ask-smtp-provider': 'ask the provider of the SMTP server why',
  'read-log': 'read the log of the delivery process',
  wait: 'wait until the cause is gone',
  'tell-partner': 'tell the partner about the offer',
} satisfies Record<Exclude<Step, 'lift' | 'correct-address' | 'send-again'>, string>;
