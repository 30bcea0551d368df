import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InvalidInput } from '@floodgate/service/failure';
import { confirmationRenderer } from './kinds/confirmation.ts';
import { renderNotice } from './kinds/webhook-disabled.ts';
import type { MailEvent } from './mail-event.ts';
import { parseSender, type MailMessage } from './message.ts';

const MADE_UP = {
  serial: 1_234,
  passCode: 4_829_137_450,
  ticketId: 1,
  ticketTitle: 'Standard',
  fullName: 'Ada Lovelace',
  emailAddress: 'ada@attendee.example',
  seat: 'Table 7',
};
/** As long as a pass, without a signature. */
const NO_PASS = `FG2.${'PREVIEW0'.repeat(16)}AAAA`;

/**
 * Writes the confirmation of an event with made-up data to a directory: mail.html, mail.txt, and mail.eml as it would be sent. Returns
 * the files. Throws InvalidInput if the sender is not an address.
 */
export async function writePreview(event: MailEvent, from?: string, directory?: string) {
  const render = confirmationRenderer(senderOf(from));
  return writeParts(await render({ ...MADE_UP, event }, NO_PASS), directory);
}

/** The same for the e-mail to a partner whose webhook for this event was disabled. */
export async function writeNoticePreview({ name, ref }: MailEvent, from?: string, directory?: string) {
  const disabledAt = new Date();
  const notice = {
    contact: 'webhooks@partner.example',
    webhookId: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
    receiver: 'partner.example/floodgate',
    description: 'production',
    eventName: name,
    eventRef: ref,
    reason: 'failing',
    failingSince: new Date(disabledAt.getTime() - 5 * 86_400_000),
    disabledAt,
    waiting: 1_234,
  } as const;
  return writeParts(await renderNotice(notice, { id: 'preview', sender: senderOf(from) }), directory);
}

function senderOf(from = 'Floodgate <floodgate@localhost>') {
  const sender = parseSender(from);
  if (!sender) throw new InvalidInput({ '--from': 'an address or Name <address>' });
  return sender;
}

/** Returns the HTML of an e-mail with its picture inside, as browsers show it. */
export const htmlWithPicture = ({ html, picture }: Pick<MailMessage, 'html' | 'picture'>): string =>
  picture ? html.replaceAll(/cid:[^"]+/g, `data:image/png;base64,${picture.toString('base64')}`) : html;

async function writeParts(mail: MailMessage, directory = '.') {
  await mkdir(directory, { recursive: true });
  const contents = { 'mail.html': htmlWithPicture(mail), 'mail.txt': mail.text, 'mail.eml': mail.content };
  return Promise.all(
    Object.entries(contents).map(async ([name, part]) => {
      const file = path.join(directory, name);
      await writeFile(file, part);
      return file;
    }),
  );
}
