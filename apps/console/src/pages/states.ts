import type { MailStep } from '@floodgate/mail/console';
import { chip, type Tone } from '../view/html.ts';
import type { Words } from '../words/index.ts';

type RegistrationState = keyof Words['people']['states'];
type MailState = keyof Words['messages']['states'];

const TONES: Record<RegistrationState, Tone> = {
  held: 'warn',
  reserved: 'info',
  confirmed: 'ok',
  failed: 'bad',
  cancelled: 'quiet',
  waiting: 'info',
  offered: 'warn',
  expired: 'quiet',
  left: 'quiet',
};

const MAIL_TONES: Record<MailState, Tone> = {
  queued: 'info',
  sending: 'info',
  sent: 'ok',
  retry: 'warn',
  undeliverable: 'bad',
  suppressed: 'bad',
  cancelled: 'quiet',
  waiting: 'info',
  none: 'quiet',
};

/** Returns the state of a registration, or of an entry of a waiting list. */
export const registrationChip = (state: RegistrationState, { people }: Words) =>
  chip(TONES[state], people.states[state]);

/** Returns the state of an e-mail. */
export const mailChip = (state: MailState, { messages }: Words) =>
  chip(MAIL_TONES[state], messages.states[state]);

/** Returns why an e-mail did not arrive, in the language of the page. */
export const whyText = (why: string | null, { messages }: Words) =>
  why === null ? null : (messages.whys[why] ?? capitalized(why));

/** Returns the code of a mail server, for those who ask it why. Our own codes say nothing more than the words. */
export const codeText = (reason: string | null) => (reason !== null && /^\d/.test(reason) ? reason : '');

/** Returns what to do about an e-mail that did not arrive. */
export const remedyText = (steps: readonly MailStep[], { messages }: Words) =>
  steps.map((step) => messages.steps[step]).join(' ');

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
