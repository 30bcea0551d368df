import type { Writable } from 'node:stream';
import type { Attempt } from '@floodgate/deliveries';
import type { Logger } from '@floodgate/service';
import type { NodemailerError } from 'nodemailer';
import SMTPPool from 'nodemailer/lib/smtp-pool';
import type { MailMessage } from './message.ts';

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
/**
 * Servers may take this long to answer a message (RFC 5321, 4.5.3.2.6). After that the outcome is unknown.
 */
const SILENT_FOR_MS = 600_000;

/**
 * Opens a pool of connections to an SMTP server. Connections are opened on demand and stay open. Logs a
 * warning if the server cannot be used.
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
        // The pool calls these methods only, although its type names more. `sendMail` would compose the message
        // again, and not report whether it was handed over.
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
/**
 * Enhanced codes (RFC 3463) of the server's system, limits and policy. They can concern the address or the
 * sender.
 */
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
