import { Readable } from 'node:stream';
import SMTPPool from 'nodemailer/lib/smtp-pool';
import type { Attempt, ComposedMail, Transport } from './transport.ts';

export interface SmtpOptions {
  url: string;
  connections: number;
}

const CONNECT_WITHIN_MS = 10_000;
/** Servers may think about a message for long (RFC 5321, 4.5.3.2.6). Longer than that, and nobody knows what became of it. */
const SILENT_FOR_MS = 600_000;

/**
 * Opens a pool of connections to an SMTP server. A connection is made when there is something to send, and kept. The pool gets
 * messages that are composed already: its own way of composing takes longer than everything else together.
 */
export function openSmtp({ url, connections }: SmtpOptions): Transport {
  const pool = new SMTPPool({
    url,
    maxConnections: connections,
    maxMessages: Infinity,
    // It would send again what may have been sent.
    maxRequeues: 0,
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    socketTimeout: SILENT_FOR_MS,
    // What it would log quotes addresses.
    logger: false,
  });
  // Each message is told by itself.
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

/** What the pool wants of a message. */
function messageOf({ from, to, messageId, content }: ComposedMail, handedOver: () => void) {
  return {
    getEnvelope: () => ({ from, to: [to] }),
    messageId: () => messageId,
    getHeader: () => messageId,
    createReadStream() {
      const stream = Readable.from([content], { objectMode: false });
      return stream.once('end', handedOver);
    },
  };
}

type SmtpError = Error & { code?: string; command?: string; response?: string; responseCode?: number };

/** What a server says to everybody: slow down, come back later. */
const FOR_ALL = new Set([421, 454]);
/** What it says of us, not of an e-mail or its address: it does not know the command, or wants another password. */
const OF_US = /^(?:50\d|53[0458])$/;
/** Enhanced codes (RFC 3463) of its system, its limits and its policy. They may be about the address, or about all that we send. */
const POLICY = /^\d{3} 5\.(?:3\.|4\.5$|7\.)/;

/** Returns what an error of the pool says about the e-mail. */
export function attemptOf(error: SmtpError, isHandedOver: boolean): Attempt {
  // Found by the pool itself.
  if (error.message.startsWith('Invalid recipient'))
    return { kind: 'refused', isPermanent: true, reason: 'address' };
  const { responseCode } = error;
  if (!responseCode)
    return { kind: 'unavailable', isDoubtful: isHandedOver, reason: error.code ?? error.name };
  const reason = reasonOf(error);
  // Whoever answers has not taken it.
  if (!isOfMessage(error, responseCode)) return { kind: 'unavailable', isDoubtful: false, reason };
  if (POLICY.test(reason)) return { kind: 'policy', reason };
  return { kind: 'refused', isPermanent: responseCode >= 500, reason };
}

/** Whether a server speaks of this e-mail or its address, and of nothing else. */
function isOfMessage({ code, command }: SmtpError, responseCode: number): boolean {
  const isOfAll = FOR_ALL.has(responseCode) || OF_US.test(String(responseCode)) || command === 'MAIL FROM';
  return !isOfAll && (code === 'EENVELOPE' || code === 'EMESSAGE');
}

/** The code and the enhanced code (RFC 3463). The text that follows quotes addresses. */
function reasonOf({ responseCode, response = '' }: SmtpError): string {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
  return [responseCode, enhanced].filter(Boolean).join(' ');
}
