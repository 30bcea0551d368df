import MailComposer from 'nodemailer/lib/mail-composer';
import type { Sender } from '../compose/compose-mail.ts';
import type { ComposedMail } from '../send/transport.ts';
import { noticeHtml, noticeSubject, noticeText, type WebhookNotice } from '../templates/webhook-notice.ts';

/** Returns the e-mail that tells a partner of a webhook. By the library: they are rare. `id` is the same whenever it is sent. */
export async function composeNotice(
  notice: WebhookNotice,
  { id, to, sender }: { id: string; to: string; sender: Sender },
): Promise<ComposedMail> {
  const messageId = `<webhook.${id}@${sender.address.split('@')[1]!}>`;
  const subject = noticeSubject(notice);
  const composer = new MailComposer({
    from: sender.from,
    to: { name: '', address: to },
    subject,
    messageId,
    // Nobody's holiday is announced to it.
    headers: { 'auto-submitted': 'auto-generated', 'content-language': 'en' },
    text: noticeText(notice),
    html: noticeHtml(notice),
    textEncoding: 'base64',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return { from: sender.address, to, messageId, subject, content: await composer.compile().build() };
}
