import { encode, wrap } from 'nodemailer/lib/base64';
import MailComposer from 'nodemailer/lib/mail-composer';
import MimeNode from 'nodemailer/lib/mime-node';
import { htmlOf, textOf, type Letter } from './letter.ts';
import type { Sender } from './settings.ts';

/** The common part of all e-mails of a frame. */
interface FrameOptions {
  sender: Sender;
  letter: Omit<Letter, 'greeting'>;
  replyTo?: string | null;
  /** Content-ID of the picture that the HTML shows. */
  pictureId?: string | null;
  /** A calendar file that is attached. */
  calendar?: string | null;
}

/** The individual part of an e-mail. */
interface FrameContent extends Pick<Letter, 'greeting'> {
  to: { name: string; address: string };
  /** The same for every attempt, so that recipients can detect a second copy. */
  messageId: string;
  /** Facts after those of the frame. */
  facts?: Letter['facts'];
  picture?: Buffer | undefined;
  /** The edition of the content. */
  revision: number;
  /** The batch of the registration that it is about, for traces. */
  batchId?: string | undefined;
}

/** An e-mail that is ready to be sent. */
export type MailMessage = ReturnType<Awaited<ReturnType<typeof createFrame>>>;

/** Placeholders of the parts that differ. The library encodes a text in base64 if it is not ASCII. */
const PLACEHOLDERS = { text: 'täxt', html: 'html ä', picture: 'picture ä' };
const CALENDAR = 'text/calendar; charset=utf-8; method=PUBLISH';
/** Headers that differ in each e-mail. */
const OWN_HEADERS = /^(?:Date|Message-ID): .*\r\n/gm;

/**
 * Returns a function that composes e-mails, which differ only in recipient, text, HTML and picture. The library composes one e-mail with
 * placeholders, and the function replaces the placeholders. Composing each e-mail by the library took 2.9 ms.
 */
export async function createFrame({ sender, letter, replyTo, pictureId, calendar }: FrameOptions) {
  const { subject, language } = letter;
  const root = new MailComposer({
    from: sender.from,
    subject,
    replyTo: replyTo ?? undefined,
    // No automatic replies.
    headers: { 'auto-submitted': 'auto-generated', 'content-language': language },
    text: PLACEHOLDERS.text,
    html: PLACEHOLDERS.html,
    textEncoding: 'base64',
    attachments: [
      ...(pictureId
        ? [{ cid: pictureId, filename: 'pass.png', content: Buffer.from(PLACEHOLDERS.picture) }]
        : []),
      ...(calendar ? [{ filename: 'event.ics', contentType: CALENDAR, content: calendar }] : []),
    ],
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const frame = (await root.build()).toString('latin1').replaceAll(OWN_HEADERS, '');
  const own = new MimeNode(undefined, { rootNode: root });

  return ({ to, messageId, greeting, facts = [], picture, revision, batchId }: FrameContent) => {
    own.setHeader([
      { key: 'to', value: to },
      { key: 'message-id', value: messageId },
      { key: 'date', value: new Date().toUTCString().replace('GMT', '+0000') },
    ]);
    const whole = { ...letter, greeting, facts: [...letter.facts, ...facts] };
    const parts = { text: textOf(whole), html: htmlOf(whole), picture };
    let body = frame;
    for (const [part, placeholder] of Object.entries(PLACEHOLDERS))
      body = body.replace(encode(placeholder), () => wrap(encode(parts[part as 'text'])));
    const content = Buffer.from(`${own.buildHeaders()}\r\n${body}`, 'latin1');
    // The parts are for the mailcatcher and previews.
    return { from: sender.address, to: to.address, messageId, subject, content, ...parts, revision, batchId };
  };
}
