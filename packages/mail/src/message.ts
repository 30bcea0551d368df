import MailComposer from 'nodemailer/lib/mail-composer';
import MimeNode from 'nodemailer/lib/mime-node';
import { htmlOf, textOf, type Letter } from './letter.ts';

/** An e-mail that is ready to be sent. */
export interface MailMessage {
  from: string;
  to: string;
  /** The same for every attempt, so that recipients can notice a second copy. */
  messageId: string;
  subject: string;
  /** As SMTP transfers it. */
  content: Buffer;
  /** The same content, for the mailcatcher and previews. */
  text: string;
  html: string;
  picture: Buffer | undefined;
  /** The edition of what it says. */
  revision: number;
}

/** A sender: a name and an address, or only the address. */
export interface Sender {
  /** As it stands in the e-mail. */
  from: string;
  /** The address alone, and its domain. */
  address: string;
  domain: string;
}

const FROM = /^(?:[^<>]*<)?([^\s<>@]+@([^\s<>@]+))>?$/;

/** Returns the sender that a setting names; null if it is not one. */
export function parseSender(setting: string): Sender | null {
  const from = setting.trim();
  const [, address, domain] = FROM.exec(from) ?? [];
  return address && domain ? { from, address, domain } : null;
}

/** The common part of all e-mails of one frame. */
export interface FrameOptions {
  sender: Sender;
  subject: string;
  language: string;
  replyTo?: string | null;
  /** Content-ID of the picture that the HTML shows, where it shows one. */
  pictureId?: string | undefined;
  /** A calendar file that is attached. */
  calendar?: string | null;
}

/** The individual part of an e-mail. */
export interface FrameContent {
  to: { name: string; address: string };
  messageId: string;
  letter: Letter;
  picture?: Buffer | undefined;
  revision?: number;
}

const LINE = 76;

/** Stand for the parts that differ. The library encodes text in base64 if it is not ASCII. */
const PLACEHOLDERS = { text: 'täxt', html: 'html ä', picture: 'picture ä' } as const;
const PARTS = new Map(
  (['text', 'html', 'picture'] as const).map((part) => [base64(PLACEHOLDERS[part]), part]),
);
const PART = new RegExp(`(${[...PARTS.keys()].join('|')})`);
/** Headers that each e-mail has of its own. */
const OWN_HEADERS = /^(?:Date|Message-ID): .*\r\n/gm;

/**
 * Returns what makes e-mails that differ in recipient, text, HTML and picture only. The library composes one with placeholders,
 * which are then replaced: composing every e-mail took 2.9 ms, replacing takes 0.05 ms.
 */
export async function createFrame({
  sender,
  subject,
  language,
  replyTo,
  pictureId,
  calendar,
}: FrameOptions): Promise<(content: FrameContent) => MailMessage> {
  const root = new MailComposer({
    from: sender.from,
    subject,
    ...(replyTo && { replyTo }),
    // No automatic replies.
    headers: { 'auto-submitted': 'auto-generated', 'content-language': language },
    text: PLACEHOLDERS.text,
    html: PLACEHOLDERS.html,
    textEncoding: 'base64',
    attachments: [
      ...(pictureId ? [pictureAttachment(pictureId)] : []),
      ...(calendar ? [calendarAttachment(calendar)] : []),
    ],
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const pieces = (await root.build()).toString('latin1').replaceAll(OWN_HEADERS, '').split(PART);
  const own = new MimeNode(undefined, { rootNode: root });

  return ({ to, messageId, letter, picture, revision = 0 }) => {
    own.setHeader([
      { key: 'to', value: to },
      { key: 'message-id', value: messageId },
      { key: 'date', value: new Date().toUTCString().replace('GMT', '+0000') },
    ]);
    const parts = { text: textOf(letter), html: htmlOf(letter), picture };
    const filled = pieces.map((piece) => (PARTS.has(piece) ? base64(parts[PARTS.get(piece)!]!) : piece));
    const content = Buffer.from(`${own.buildHeaders()}\r\n${filled.join('')}`, 'latin1');
    return { from: sender.address, to: to.address, messageId, subject, content, ...parts, revision };
  };
}

const pictureAttachment = (cid: string) => ({
  cid,
  filename: 'pass.png',
  contentType: 'image/png',
  contentDisposition: 'inline' as const,
  content: Buffer.from(PLACEHOLDERS.picture),
});

const calendarAttachment = (calendar: string) => ({
  filename: 'event.ics',
  contentType: 'text/calendar; charset=utf-8; method=PUBLISH',
  content: calendar,
});

/** Returns base64 in lines. A regular expression took 0.2 ms for an e-mail, slices take 0.02 ms. */
function base64(content: string | Buffer): string {
  const encoded = Buffer.from(content as string).toString('base64');
  let lines = encoded.slice(0, LINE);
  for (let at = LINE; at < encoded.length; at += LINE) lines += `\r\n${encoded.slice(at, at + LINE)}`;
  return lines;
}
