import MailComposer from 'nodemailer/lib/mail-composer';

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
  picture: Buffer | null;
  /** The edition of what it says. */
  revision: number;
}

/** A sender: a name and an address, or only the address. */
export interface Sender {
  /** As it stands in the e-mail. */
  from: string;
  /** The address alone. */
  address: string;
}

const FROM = /^(?:[^<>]*<)?([^\s<>@]+@[^\s<>@]+)>?$/;

/** Returns the sender that a setting names; null if it is not one. */
export function parseSender(from: string): Sender | null {
  const address = FROM.exec(from.trim())?.[1];
  return address ? { from: from.trim(), address } : null;
}

export const domainOf = ({ address }: Sender) => address.split('@')[1]!;

/** The common part of all e-mails of one frame. */
export interface FrameOptions {
  sender: Sender;
  subject: string;
  language: string;
  replyTo?: string | null;
  /** Content-ID of the picture that the HTML shows, where it shows one. */
  pictureId?: string;
  /** A calendar file that is attached. */
  calendar?: string | null;
}

/** The individual part of an e-mail. */
export interface FrameContent {
  to: { name: string; address: string };
  messageId: string;
  text: string;
  html: string;
  picture?: Buffer;
  revision?: number;
}

/** Stand for the parts that differ, in base64. The library encodes text this way if it is not ASCII. */
const PLACEHOLDERS = { text: 'täxt', html: 'html ä', picture: 'picture ä' } as const;
type Part = keyof typeof PLACEHOLDERS;
const PART = new RegExp(
  `(${Object.values(PLACEHOLDERS)
    .map((text) => Buffer.from(text).toString('base64'))
    .join('|')})`,
);
const partOf = (piece: string) => PLACEHOLDER_NAMES.get(Buffer.from(piece, 'base64').toString());
const PLACEHOLDER_NAMES = new Map(
  Object.entries(PLACEHOLDERS).map(([name, text]) => [text as string, name as Part]),
);

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
  const composed = (await root.build()).toString('latin1');
  const pieces = composed.slice(composed.indexOf('\r\n\r\n')).split(PART);

  return ({ to, messageId, text, html, picture, revision = 0 }) => {
    root.setHeader([
      { key: 'to', value: to },
      { key: 'message-id', value: messageId },
      { key: 'date', value: new Date().toUTCString().replace('GMT', '+0000') },
    ]);
    const parts = { text, html, picture };
    const body = pieces.map((piece) => {
      const name = partOf(piece);
      return name ? base64(parts[name]!) : piece;
    });
    const content = Buffer.from(root.buildHeaders() + body.join(''), 'latin1');
    const from = sender.address;
    return {
      from,
      to: to.address,
      messageId,
      subject,
      content,
      text,
      html,
      picture: picture ?? null,
      revision,
    };
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

const base64 = (content: string | Buffer) =>
  Buffer.from(content as string)
    .toString('base64')
    .replaceAll(/.{76}(?!$)/g, '$&\r\n');
