import { randomUUID } from 'node:crypto';
import { isEmailAddress, normalizeEmail } from '@floodgate/contract';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import { parseSender } from './letter.ts';
import { createFrame } from './message.ts';
import type { TestMailSettings } from './settings.ts';
import { openSmtp } from './smtp.ts';

const SUBJECT = 'Test e-mail of Floodgate';

/**
 * Sends one e-mail to this address, to test the settings. Resolves when the SMTP server has accepted it.
 * Throws InvalidInput if the address is not valid, and Failure with the reason if the server did not accept
 * the e-mail.
 */
export async function sendTestMail({ SMTP_URL, MAIL_FROM }: TestMailSettings, address: string) {
  const to = normalizeEmail(address);
  if (!isEmailAddress(to)) throw new InvalidInput({ to: 'an e-mail address' });
  if (!SMTP_URL)
    throw new Failure('this process has no SMTP server: set SMTP_URL as for the delivery process');
  const sender = parseSender(MAIL_FROM!)!;
  const frame = await createFrame({
    sender,
    letter: {
      language: 'en',
      subject: SUBJECT,
      preview: 'E-mails of Floodgate reach you.',
      heading: SUBJECT,
      news: 'E-mails of Floodgate reach you.',
      facts: [['Sender', sender.from]],
      hints: [],
      why: 'You get this e-mail because an operator entered your address for a test.',
    },
  });
  const messageId = `<test.${randomUUID()}@${sender.domain}>`;
  const smtp = openSmtp(SMTP_URL, 1, { warn: () => {} });
  try {
    const mail = frame({ to: { name: '', address: to }, messageId, greeting: 'Hello,', revision: 0 });
    const attempt = await smtp.send(mail);
    if (attempt.kind === 'unavailable')
      throw new Failure(`the SMTP server cannot be used (${attempt.reason})`);
    if (attempt.kind !== 'sent') throw new Failure(`the SMTP server refused the e-mail (${attempt.reason})`);
    return { sent: true };
  } finally {
    smtp.close();
  }
}
