import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InvalidInput } from '@floodgate/service/failure';
import { qrPng } from '@floodgate/passes';
import { createComposer, parseSender } from './compose/compose-mail.ts';
import type { MailEvent } from './mail-event.ts';
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
export async function writePreview(
  event: MailEvent,
  from = 'Floodgate <floodgate@localhost>',
  directory = '.',
) {
  const sender = parseSender(from);
  if (!sender) throw new InvalidInput('--from: an address or Name <address>');
  const mail = createComposer(event, sender)(MADE_UP, qrPng(NO_PASS));
  const { html, text } = readParts(mail.content);
  await mkdir(directory, { recursive: true });
  const contents = { 'mail.html': html, 'mail.txt': text, 'mail.eml': mail.content };
  return Promise.all(
    Object.entries(contents).map(async ([name, content]) => {
      const file = path.join(directory, name);
      await writeFile(file, content);
      return file;
    }),
  );
}
