import { qrPng, signPassFor, type SigningKeys } from '@floodgate/passes';
import type { MailEvent } from '../mail-event.ts';
import type { Recipient } from '../recipients.ts';
import type { ComposedMail } from '../send/transport.ts';
import { createComposer, type Sender } from './compose-mail.ts';

/** What the thread is asked for: e-mails about registrations of an event, with passes that this key signs. */
export interface ComposeRequest {
  event: MailEvent;
  sender: Sender;
  key: SigningKeys['signing'];
  recipients: readonly Recipient[];
}

/** An e-mail, or the name of the error where it could not be made. Its message may quote the attendee. */
export type Composed = ComposedMail | { error: string };

type Composer = ReturnType<typeof createComposer>;

/** By what it was made of. What is the same in all e-mails of an event is made once. */
const composers = new Map<string, Composer>();
const MOST_COMPOSERS = 100;

/** Composes e-mails, one for each recipient and in their order. */
export default function composeAll({ event, sender, key, recipients }: ComposeRequest): Composed[] {
  const compose = composerFor(event, sender);
  return recipients.map((recipient) => {
    try {
      const { ticketId, serial } = recipient;
      return compose(recipient, qrPng(signPassFor({ event, ticketId, serial }, key)));
    } catch (error) {
      return { error: (error as Error).name };
    }
  });
}

function composerFor(event: MailEvent, sender: Sender): Composer {
  const madeOf = JSON.stringify([event, sender]);
  const known = composers.get(madeOf);
  if (known) return known;
  if (composers.size >= MOST_COMPOSERS) composers.clear();
  const composer = createComposer(event, sender);
  composers.set(madeOf, composer);
  return composer;
}
