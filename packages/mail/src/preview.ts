import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CANCELLATION, CONFIRMATION, EVENT_UPDATED, WAITING_OFFER, type Event } from '@floodgate/events';
import { InvalidInput } from '@floodgate/service/failure';
import { createRenderer } from './kinds/attendee-mails.ts';
import { renderNotice } from './kinds/webhook-disabled.ts';
import { parseSender } from './letter.ts';
import type { MailMessage } from './message.ts';

const ATTENDEE = {
  serial: 1_234,
  passCode: 4_829_137_450,
  ticketId: 1,
  ticketTitle: 'Standard',
  fullName: 'Ada Lovelace',
  emailAddress: 'ada@attendee.example',
  seat: 'Table 7',
};
const NOTICE = {
  contact: 'webhooks@partner.example',
  webhookId: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
  receiver: 'partner.example/floodgate',
  description: 'production',
  reason: 'failing',
  waiting: 1_234,
} as const;
const DAY_MS = 86_400_000;
/** Has the length of a pass, but no signature. */
const NO_PASS = `FG2.${'PREVIEW0'.repeat(16)}AAAA`;

interface PreviewOptions {
  /** The e-mail to a partner whose webhook was disabled, instead of the confirmation. */
  notice?: boolean | undefined;
  /** The e-mail to a contact whose entry of a waiting list has an offer, instead of the confirmation. */
  offer?: boolean | undefined;
  /** The e-mail to an attendee whose registration was cancelled, instead of the confirmation. */
  cancelled?: boolean | undefined;
  /** The e-mail about a new time or place, instead of the confirmation. */
  updated?: boolean | undefined;
  from?: string | undefined;
}

/** An e-mail with made-up data. */
export interface Preview {
  html: string;
  text: string;
  /** The e-mail as it would be sent. */
  eml: string;
}

/**
 * Composes an e-mail about an event with made-up data. Throws InvalidInput if the sender is not an address.
 */
export async function composePreview(
  event: Event,
  { notice, from, ...kinds }: PreviewOptions,
): Promise<Preview> {
  const sender = parseSender(from ?? 'Floodgate <floodgate@localhost>');
  if (!sender) throw new InvalidInput({ from: 'an address or Name <address>' });
  const disabledAt = new Date();
  const failingSince = new Date(disabledAt.getTime() - 5 * DAY_MS);
  const ofWebhook = { ...NOTICE, eventName: event.name, eventRef: event.ref, failingSince, disabledAt };
  const kind = kindOf(kinds);
  const render = createRenderer(kind, { sender, passes: { tokenFor: async () => NO_PASS } });
  const ofOffer = kinds.offer && { seats: 2, expiresAt: new Date(disabledAt.getTime() + DAY_MS) };
  const mail = notice
    ? await renderNotice(ofWebhook, sender, 0)
    : await render({ ...ATTENDEE, ...ofOffer, event }, event);
  return { html: htmlWithPicture(mail), text: mail.text, eml: mail.content.toString('latin1') };
}

function kindOf({ offer, cancelled, updated }: PreviewOptions) {
  if (offer) return WAITING_OFFER;
  if (cancelled) return CANCELLATION;
  return updated ? EVENT_UPDATED : CONFIRMATION;
}

/** Writes a preview to a directory. Returns the files. */
export async function writePreview({ html, text, eml }: Preview, out: string): Promise<string[]> {
  await mkdir(out, { recursive: true });
  const contents = { 'mail.html': html, 'mail.txt': text, 'mail.eml': Buffer.from(eml, 'latin1') };
  for (const [name, part] of Object.entries(contents)) await writeFile(path.join(out, name), part);
  return Object.keys(contents).map((name) => path.join(out, name));
}

/** Returns the HTML of an e-mail with its picture inside, as browsers show it. */
export const htmlWithPicture = ({ html, picture }: Pick<MailMessage, 'html' | 'picture'>): string =>
  picture ? html.replaceAll(/cid:[^"]+/g, `data:image/png;base64,${picture.toString('base64')}`) : html;
