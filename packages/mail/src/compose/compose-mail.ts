import { randomUUID } from 'node:crypto';
import MimeNode from 'nodemailer/lib/mime-node';
import { formatPassReference } from '@floodgate/contract';
import { calendarOf } from './calendar.ts';
import type { MailEvent } from '../mail-event.ts';
import type { Recipient } from '../recipients.ts';
import type { ComposedMail } from '../send/transport.ts';
import {
  confirmationHtml,
  confirmationSubject,
  confirmationText,
  type Confirmation,
} from '../templates/confirmation.ts';

/** Who sends: a name and an address, or only the address. */
export interface Sender {
  /** As it stands in the e-mail. */
  from: string;
  /** The address alone. */
  address: string;
}

const FROM = /^(?:[^<>]*<)?([^\s<>@]+@[^\s<>@]+)>?$/;

/** Returns the sender that a setting names; null where it names none. */
export function parseSender(from: string): Sender | null {
  const address = FROM.exec(from.trim())?.[1];
  return address ? { from: from.trim(), address } : null;
}

// Parts are in base64, which has no hyphens, so nothing of an e-mail can look like a border.
const BORDER = randomUUID();
const QR_NAME = 'pass.png';

/**
 * Returns what composes the e-mails about an event; what is the same in all of them is made once. Not by the library's composer,
 * which takes ten times as long: with a picture and a file, that was more than all the rest.
 */
export function createComposer(event: MailEvent, sender: Sender) {
  const when = event.startsAt && whenText(event);
  const calendar = calendarOf(event);
  const domain = sender.address.split('@')[1]!;
  const qrId = `pass.${event.ref}@${domain}`;
  const calendarPart =
    calendar &&
    part('mixed', 'text/calendar; charset=utf-8; method=PUBLISH; name=event.ics', calendar, [
      'Content-Disposition: attachment; filename=event.ics',
    ]);

  const headersFor = createHeaders(event, sender);
  const confirmationOf = (recipient: Recipient): Confirmation => ({
    language: event.language,
    eventName: event.name,
    when,
    venue: event.venue,
    name: safeName(recipient),
    ticket: recipient.ticketTitle,
    seat: recipient.seat,
    passReference: formatPassReference({ ...recipient, prefix: event.passPrefix, eventId: event.id }),
    hasCalendar: calendar !== null,
    qrSource: `cid:${qrId}`,
  });

  return function compose(recipient: Recipient, qrPng: Buffer): ComposedMail {
    const confirmation = confirmationOf(recipient);
    const subject = confirmationSubject(confirmation);
    const messageId = `<${recipient.serial}.${event.ref}@${domain}>`;
    const headers = headersFor(recipient, { subject, messageId });
    const body = [
      `Content-Type: multipart/mixed; boundary="mixed-${BORDER}"\r\n\r\n`,
      multipart('mixed', 'related', '; type="multipart/alternative"'),
      multipart('related', 'alternative'),
      part('alternative', 'text/plain; charset=utf-8', confirmationText(confirmation)),
      part('alternative', 'text/html; charset=utf-8', confirmationHtml(confirmation)),
      end('alternative'),
      part('related', `image/png; name=${QR_NAME}`, qrPng, [
        `Content-ID: <${qrId}>`,
        `Content-Disposition: inline; filename=${QR_NAME}`,
      ]),
      end('related'),
      calendarPart ?? '',
      end('mixed'),
    ];
    const content = Buffer.from(`${headers}\r\n${body.join('')}`, 'latin1');
    return { from: sender.address, to: recipient.emailAddress, messageId, subject, content };
  };
}

/** A URL, or what e-mail programs take for one: "win.example". */
const URL_LIKE = /:\/\/|\bwww\.|[\p{L}\p{N}][.\u3002\uff0e\uff61]\p{L}{2,}/iu;

/** Returns the name; null where it holds a URL: anybody can register any address, and the e-mail would carry their link. */
const safeName = ({ fullName }: Pick<Recipient, 'fullName'>) => (URL_LIKE.test(fullName) ? null : fullName);

/** Returns what makes the headers of one e-mail after the other. The library knows how names and subjects of all alphabets are written. */
function createHeaders({ language, replyTo }: MailEvent, { from }: Sender) {
  // One for all: making it takes as long as writing the headers.
  const node = new MimeNode(false);
  node.setHeader([
    { key: 'from', value: from },
    { key: 'content-language', value: language },
    // Nobody's holiday is announced to it.
    { key: 'auto-submitted', value: 'auto-generated' },
    ...(replyTo ? [{ key: 'reply-to', value: replyTo }] : []),
  ]);
  return (recipient: Recipient, { subject, messageId }: { subject: string; messageId: string }): string => {
    node.setHeader([
      { key: 'to', value: { name: safeName(recipient) ?? '', address: recipient.emailAddress } },
      { key: 'subject', value: subject },
      { key: 'message-id', value: messageId },
      { key: 'date', value: new Date().toUTCString().replace('GMT', '+0000') },
    ]);
    return node.buildHeaders();
  };
}

const multipart = (within: string, kind: string, more = '') =>
  `--${within}-${BORDER}\r\nContent-Type: multipart/${kind}; boundary="${kind}-${BORDER}"${more}\r\n\r\n`;

const end = (kind: string) => `--${kind}-${BORDER}--\r\n`;

function part(within: string, type: string, content: string | Buffer, headers: readonly string[] = []) {
  const lines = [`--${within}-${BORDER}`, `Content-Type: ${type}`, ...headers];
  return `${lines.join('\r\n')}\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(content)}\r\n`;
}

const LINE = 76;

function base64(content: string | Buffer): string {
  const text = Buffer.from(content as string).toString('base64');
  const lines = [];
  for (let at = 0; at < text.length; at += LINE) lines.push(text.slice(at, at + LINE));
  return lines.join('\r\n');
}

/** When an event is, as its visitors read it. */
export function whenText({ startsAt, endsAt, timeZone, language }: MailEvent): string {
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    dateStyle: 'full',
    timeStyle: 'short',
    timeZone: timeZone ?? 'UTC',
  });
  const text = endsAt ? format.formatRange(startsAt!, endsAt) : format.format(startsAt!);
  return timeZone ? text : `${text} (UTC)`;
}
