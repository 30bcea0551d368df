import type { Transform } from 'node:stream';
import SMTPPool from 'nodemailer/lib/smtp-pool';
import type { Attempt } from '@floodgate/deliveries';
import type { MailMessage } from './message.ts';

/** A receiver of e-mails: an SMTP server, or the mailcatcher. */
export interface Transport {
  /** Whether what is sent leaves this machine. */
  isOutside: boolean;
  /** Connects without sending anything. Resolves to the codes of the failure; null: it succeeded. */
  check?(): Promise<string | null>;
  /** Resolves when the e-mail was accepted, or not. Never rejects. */
  send(mail: MailMessage): Promise<Attempt>;
  /** Also ends the attempts that are running. */
  close(): void;
}

export interface SmtpOptions {
  url: string;
  connections: number;
}

const CONNECT_WITHIN_MS = 10_000;
/** Servers may take this long to answer a message (RFC 5321, 4.5.3.2.6). After that its fate is unknown. */
const SILENT_FOR_MS = 600_000;

/**
 * Opens a pool of connections to an SMTP server. Connections are opened on demand, and kept. The pool gets composed messages: its
 * `sendMail` needs 0.4 ms to wrap each in streams.
 */
export function openSmtp({ url, connections }: SmtpOptions): Transport {
  const pool = new SMTPPool({
    url,
    maxConnections: connections,
    maxMessages: Infinity,
    // A message whose fate is unknown must not be sent again by the pool.
    maxRequeues: 0,
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    socketTimeout: SILENT_FOR_MS,
    // Its log contains addresses.
    logger: false,
  });
  // Each message reports its own error.
  pool.on('error', () => {});
  return {
    isOutside: true,
    check: () =>
      new Promise((resolve) => {
        pool.verify((error) => {
          const { responseCode, code, name } = (error ?? {}) as SmtpError;
          resolve(error ? String(responseCode ?? code ?? name) : null);
        });
      }),
    send: (mail) =>
      new Promise((resolve) => {
        let isHandedOver = false;
        const message = messageOf(mail, () => (isHandedOver = true));
        pool.send({ data: {}, message } as unknown as Parameters<typeof pool.send>[0], (error) =>
          resolve(error ? attemptOf(error as SmtpError, isHandedOver) : { kind: 'sent' }),
        );
      }),
    close: () => pool.close({ force: true }),
  };
}

/** After the line break that ends the content. */
const END = Buffer.from('.\r\n');

/** The fields of a message that the pool needs. */
function messageOf({ from, to, messageId, content }: MailMessage, handedOver: () => void) {
  return {
    getEnvelope: () => ({ from, to: [to] }),
    messageId: () => messageId,
    getHeader: () => messageId,
    // The pool only pipes it, into a stream that doubles dots at the start of lines and adds the end. Here is none to double, so
    // everything is written in one piece: one call of the system instead of two, and no look at each byte.
    createReadStream: () => ({
      pipe(stream: Transform) {
        handedOver();
        if (content.includes('\r\n.')) stream.end(content);
        else for (const chunk of [Buffer.concat([content, END]), null]) stream.push(chunk);
      },
    }),
  };
}

type SmtpError = Error & { code?: string; command?: string; response?: string; responseCode?: number };

/** Answers that concern all messages: slow down, come back later. */
const FOR_ALL = new Set([421, 454]);
/** Answers about the sender: unknown command, wrong password. */
const OF_SENDER = /^(?:50\d|53[0458])$/;
/** Enhanced codes (RFC 3463) of the server's system, limits and policy. They can concern the address, or the sender. */
const POLICY = /^\d{3} 5\.(?:3\.|4\.5$|7\.)/;

/** Returns what an error of the pool means for the e-mail. */
export function attemptOf(error: SmtpError, isHandedOver: boolean): Attempt {
  // The pool itself rejected the address.
  if (error.message.startsWith('Invalid recipient'))
    return { kind: 'refused', isPermanent: true, reason: 'address' };
  const { responseCode } = error;
  if (!responseCode)
    return { kind: 'unavailable', isDoubtful: isHandedOver, reason: error.code ?? error.name };
  const reason = reasonOf(error);
  // A server that answers has not accepted it.
  if (!isOfMessage(error, responseCode)) return { kind: 'unavailable', isDoubtful: false, reason };
  if (POLICY.test(reason)) return { kind: 'policy', reason };
  return { kind: 'refused', isPermanent: responseCode >= 500, reason };
}

/** Whether an answer concerns this e-mail or its address only. */
function isOfMessage({ code, command }: SmtpError, responseCode: number): boolean {
  const isOfAll =
    FOR_ALL.has(responseCode) || OF_SENDER.test(String(responseCode)) || command === 'MAIL FROM';
  return !isOfAll && (code === 'EENVELOPE' || code === 'EMESSAGE');
}

/** The code and the enhanced code (RFC 3463). The text after them contains addresses. */
function reasonOf({ responseCode, response = '' }: SmtpError): string {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
  return [responseCode, enhanced].filter(Boolean).join(' ');
}
