import type { Writable } from 'node:stream';
import type { Attempt } from '@floodgate/deliveries';
import type { Logger } from '@floodgate/service';
import type { NodemailerError } from 'nodemailer';
import { encode, wrap } from 'nodemailer/lib/base64';
import MailComposer from 'nodemailer/lib/mail-composer';
import MimeNode from 'nodemailer/lib/mime-node';
import SMTPPool from 'nodemailer/lib/smtp-pool';
import { htmlOf, textOf, type Letter, type Sender } from './letter.ts';

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

/** A receiver of e-mails: an SMTP server, or the mailcatcher. */
export interface Transport {
  /** Whether its e-mails leave this machine. */
  isOutside: boolean;
  /** Resolves to the result of the attempt. Never rejects. */
  send: (mail: MailMessage) => Promise<Attempt>;
  /** Also aborts running attempts. */
  close: () => void;
}

const CONNECT_WITHIN_MS = 10_000;
/** Servers may take this long to answer a message (RFC 5321, 4.5.3.2.6). After that the outcome is unknown. */
const SILENT_FOR_MS = 600_000;

/**
 * Opens a pool of connections to an SMTP server. Connections are opened on demand and stay open. Logs a warning if the server cannot be
 * used.
 */
export function openSmtp(url: string, maxConnections: number, log: Pick<Logger, 'warn'>): Transport {
  const pool = new SMTPPool({
    url,
    maxConnections,
    maxMessages: Infinity,
    // The pool must not retry a message whose outcome is unknown.
    maxRequeues: 0,
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    socketTimeout: SILENT_FOR_MS,
    // Its log contains addresses.
    logger: false,
  });
  // Each message reports its own error.
  pool.on('error', () => {});
  pool.verify((error) => {
    if (!error) return;
    const { hostname: host, port, protocol } = new URL(url);
    const { responseCode, code = error.name } = error;
    const facts = { host, port: Number(port || (protocol === 'smtps:' ? 465 : 587)) };
    log.warn(
      { ...facts, reason: String(responseCode ?? code) },
      'the SMTP server cannot be used; e-mails stay queued',
    );
  });
  return {
    isOutside: true,
    send: ({ from, to, messageId, content }) =>
      new Promise((resolve) => {
        let isHandedOver = false;
        // The pool calls these methods. `sendMail` would compose the message again, and not report whether it was handed over.
        const message = {
          getEnvelope: () => ({ from, to: [to] }),
          messageId: () => messageId,
          getHeader: () => messageId,
          createReadStream: () => ({
            pipe(stream: Writable) {
              isHandedOver = true;
              stream.end(content);
            },
          }),
        };
        pool.send({ data: {}, message } as unknown as Parameters<typeof pool.send>[0], (error) =>
          resolve(error ? attemptOf(error, isHandedOver) : { kind: 'sent' }),
        );
      }),
    close: () => pool.close({ force: true }),
  };
}

/** Answers that concern all messages: slow down, try later, unknown command, wrong password. */
const OF_ALL = /^(?:421|454|50\d|53[0458])$/;
/** Enhanced codes (RFC 3463) of the server's system, limits and policy. They can concern the address or the sender. */
const POLICY = /^\d{3} 5\.(?:3\.|4\.5$|7\.)/;

/** Returns what an error of the pool means for the e-mail. */
function attemptOf(error: NodemailerError, isHandedOver: boolean): Attempt {
  const { message, name, code = name, command, response, responseCode } = error;
  // The pool itself rejected the address.
  if (message.startsWith('Invalid recipient'))
    return { kind: 'refused', isPermanent: true, reason: 'address' };
  if (!responseCode) return { kind: 'unavailable', isDoubtful: isHandedOver, reason: code };
  // The text after the enhanced code contains addresses.
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(String(response))?.[1];
  const reason = enhanced ? `${responseCode} ${enhanced}` : String(responseCode);
  const isOfMessage = ['EENVELOPE', 'EMESSAGE'].includes(code) && command !== 'MAIL FROM';
  // The server answered, so it has not accepted the message.
  if (!isOfMessage || OF_ALL.test(String(responseCode)))
    return { kind: 'unavailable', isDoubtful: false, reason };
  if (POLICY.test(reason)) return { kind: 'policy', reason };
  return { kind: 'refused', isPermanent: responseCode >= 500, reason };
}
