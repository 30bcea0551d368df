import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InvalidInput } from '@floodgate/service/failure';
import { qrPng } from '@floodgate/passes';
import { createComposer, parseSender } from './compose/compose-mail.ts';
import type { MailEvent } from './mail-event.ts';
import { composeNotice } from './notices/compose-notice.ts';
import type { Recipient } from './recipients.ts';
import { readParts } from './compose/read-parts.ts';

const MADE_UP: Recipient = {
  serial: 1_234,
  passCode: 4_829_137_450,
  ticketId: 1,
  ticketTitle: 'Standard',
  fullName: 'Ada Lovelace',
  emailAddress: 'ada@attendee.example',
  seat: 'Table 7',
  isCancelled: false,
};
/** As long as a pass; no key has signed it. */
const NO_PASS = `FG1.${'PREVIEW0'.repeat(18)}`;

/**
 * Writes the e-mail of an event with made-up data below a directory: mail.html, mail.txt, and mail.eml as it would be sent. Returns
 * the files. Throws InvalidInput where the sender cannot be one.
 */
export async function writePreview(event: MailEvent, from?: string, directory?: string) {
  const { content } = createComposer(event, senderOf(from))(MADE_UP, qrPng(NO_PASS));
  return writeParts(content, directory);
}

/** The same of the e-mail to a partner whose webhook for this event was given up. */
export async function writeNoticePreview({ name, ref }: MailEvent, from?: string, directory?: string) {
  const givenUpAt = new Date();
  const notice = {
    webhookId: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
    receiver: 'partner.example/floodgate',
    description: 'production',
    eventName: name,
    eventRef: ref,
    reason: 'failing',
    failingSince: new Date(givenUpAt.getTime() - 5 * 86_400_000),
    givenUpAt,
    waiting: 1_234,
  } as const;
  const to = { id: 'preview', to: 'webhooks@partner.example', sender: senderOf(from) };
  return writeParts((await composeNotice(notice, to)).content, directory);
}

function senderOf(from = 'Floodgate <floodgate@localhost>') {
  const sender = parseSender(from);
  if (!sender) throw new InvalidInput({ '--from': 'an address or Name <address>' });
  return sender;
}

async function writeParts(content: Buffer, directory = '.') {
  const { html, text } = readParts(content);
  await mkdir(directory, { recursive: true });
  const contents = { 'mail.html': html, 'mail.txt': text, 'mail.eml': content };
  return Promise.all(
    Object.entries(contents).map(async ([name, part]) => {
      const file = path.join(directory, name);
      await writeFile(file, part);
      return file;
    }),
  );
}
