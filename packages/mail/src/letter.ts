import type { Language } from '@floodgate/database';
import { html } from 'ghtml';

/** A sender: a name and an address, or only the address. */
export interface Sender {
  /** As the header From has it. */
  from: string;
  address: string;
  domain: string;
}

const FROM = /^(?:[^<>]*<)?([^\s<>@]+@([^\s<>@]+))>?$/;

/** Parses a sender. Returns null if the text is not a sender. */
export function parseSender(setting: string): Sender | null {
  const from = setting.trim();
  const [, address, domain] = FROM.exec(from) ?? [];
  return address && domain ? { from, address, domain } : null;
}

/** A label and a value. A fact without a value is omitted. */
export type Fact = readonly [label: string, value: string | null];

/** The content of an e-mail. */
export interface Letter {
  language: string;
  subject: string;
  /** Shown next to the subject in lists of e-mails. */
  preview: string;
  heading: string;
  greeting: string;
  news: string;
  /** The picture that is attached as pass.png. */
  picture?: { url: string; alt: string; caption: string; hint: string };
  facts: readonly Fact[];
  /** The next step, and the call that does it. */
  next?: string;
  call?: string;
  hints: readonly string[];
  /** Why the recipient gets the e-mail. */
  why: string;
}

/** Returns a letter as text. */
export function textOf({ greeting, news, picture, facts, next, call, hints, why }: Letter): string {
  const lines = facts.filter(([, value]) => value).map((fact) => fact.join(': '));
  const rest = [picture && `${picture.caption}: pass.png`, next, call && `\r\n  ${call}\r\n`, ...hints];
  return [greeting, '', news, '', ...lines, '', ...rest.filter(Boolean), '', '-- ', why, ''].join('\r\n');
}

// Colours are inline, because some e-mail programs ignore style sheets. The style sheet adds dark mode. The
// QR code is black on white in both modes, as scanners expect.
const STYLE = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
.page { background: #14171c !important; }
.card { background: #1f242c !important; }
.text { color: #eef1f5 !important; }
.quiet { color: #a9b2bf !important; }
.line { border-color: #39414d !important; }
}
@media (max-width: 480px) {
.card { padding: 24px 18px !important; }
.label, .fact { display: block !important; width: auto !important; padding-right: 0 !important; }
.label { padding-bottom: 0 !important; border-bottom: 0 !important; }
.fact { padding-top: 2px !important; }
}`;
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const DARK = 'color:#1b2430;overflow-wrap:anywhere';
const TEXT = `${DARK};font-size:16px;line-height:1.5`;
const GREY = 'color:#5b6573;line-height:1.5';
const LINE = 'padding:10px 0;border-bottom:1px solid #e3e7ec;vertical-align:top';
const FRAME =
  'display:inline-block;background:#ffffff;border:1px solid #e3e7ec;border-radius:12px;padding:8px';
const PIXELS = 'display:block;border:0;image-rendering:pixelated';
const TABLE = 'role="presentation" width="100%" cellpadding="0" cellspacing="0"';

/** Returns a letter as an HTML page. It loads only its picture. */
export function htmlOf(letter: Letter): string {
  const { language, subject, preview, heading, greeting, news, picture, facts, next, call, hints, why } =
    letter;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>${subject}</title>
        <style>
          !${STYLE}
        </style>
      </head>
      <body class="page" style="margin:0;padding:0;background:#f1f3f6;!${FONT}">
        <div style="display:none;max-height:0;overflow:hidden">${preview}</div>
        <table !${TABLE} class="page" style="background:#f1f3f6">
          <tr>
            <td align="center" style="padding:24px 12px">
              <table !${TABLE} style="max-width:560px">
                <tr>
                  <td class="card" style="background:#ffffff;border-radius:12px;padding:32px">
                    <h1 class="text" style="margin:0 0 16px;!${DARK};font-size:24px;line-height:1.25">
                      ${heading}
                    </h1>
                    <p class="text" style="margin:0 0 24px;!${TEXT}">${greeting}<br />${news}</p>
                    !${picture && pictureOf(picture)}
                    <table !${TABLE} style="border-collapse:collapse">
                      !${facts.map(rowOf)}
                    </table>
                    !${next && html`<p class="text" style="margin:20px 0;!${TEXT}">${next}</p>`}
                    !${call && html`<p class="text" style="!${TEXT}"><code>${call}</code></p>`}
                    <p class="quiet" style="margin:20px 0 0;!${GREY};font-size:14px">
                      ${[picture?.hint ?? [], hints].flat().join(' ')}
                    </p>
                  </td>
                </tr>
              </table>
              <p class="quiet" style="margin:16px 12px 0;!${GREY};font-size:12px">${why}</p>
            </td>
          </tr>
        </table>
      </body>
    </html> `;
}

const pictureOf = ({ url, alt, caption }: NonNullable<Letter['picture']>) =>
  html`<div align="center">
    <div style="!${FRAME}">
      <img src="${url}" width="196" height="196" alt="${alt}" style="!${PIXELS}" />
    </div>
    <p class="text" style="margin:12px 0 24px;!${TEXT};font-weight:600">${caption}</p>
  </div>`;

const rowOf = ([label, value]: Fact) =>
  value &&
  html`<tr>
    <td class="label quiet line" style="!${LINE};padding-right:16px;width:34%;!${GREY};font-size:14px">
      ${label}
    </td>
    <td class="fact text line" style="!${LINE};!${TEXT}">${value}</td>
  </tr>`;

const ENGLISH = {
  greeting: (name: string | null) => (name === null ? 'Hello,' : `Hello ${name},`),
  why: (eventName: string) =>
    `You get this e-mail because you were registered for ${eventName} with this address.`,
  when: 'When',
  where: 'Where',
  oldName: 'Old name',
  oldWhen: 'Old time',
  oldWhere: 'Old place',
  ticket: 'Ticket',
  seat: 'Table or seat',
  seats: 'Number of seats',
  until: 'Offered until',
  passReference: 'Pass reference',
  others: 'Your passes with another pass reference are not affected.',
  picture: {
    alt: 'QR code of your pass',
    caption: 'Show this code at the door',
    hint: 'No code visible? It is attached as pass.png.',
  },
  confirmation: (eventName: string) => ({
    subject: `Your pass for ${eventName}`,
    preview: 'You are registered. Show the QR code at the door.',
    news: `You are registered for ${eventName}.`,
    calendar: 'The attached file adds the event to your calendar.',
  }),
  'event-updated': (eventName: string) => ({
    subject: `New time or place: ${eventName}`,
    preview: 'Please note the new time and place. Your pass stays valid.',
    news: `The time or place of ${eventName} has changed.`,
    next: 'The pass that you already have stays valid. You need no new one.',
    calendar: 'The attached file updates the entry in your calendar.',
  }),
  cancellation: (eventName: string) => ({
    subject: `Cancelled: ${eventName}`,
    preview: 'Your pass is no longer valid.',
    news: `Your registration for ${eventName} was cancelled. This pass is no longer valid at the door.`,
    next: 'If you did not expect this, contact the shop where you registered.',
    calendar: 'The attached file removes the event from your calendar.',
  }),
  'waiting-offer': (eventName: string) => ({
    subject: `Your turn on the waiting list: ${eventName}`,
    preview: 'The seats are held for you. Accept the offer before it ends.',
    news: `It is your turn on the waiting list for ${eventName}. The seats are held for you.`,
    next:
      'To accept the offer, go to the shop where you joined the waiting list. ' +
      'If you do not accept in time, others get the seats.',
    calendar: null,
    why: `You get this e-mail because you joined the waiting list for ${eventName} with this address.`,
  }),
};

const GERMAN: Words = {
  greeting: (name) => (name === null ? 'Guten Tag,' : `Guten Tag ${name},`),
  why: (eventName) =>
    `Sie erhalten diese E-Mail, weil Sie mit dieser Adresse angemeldet wurden: ${eventName}.`,
  when: 'Wann',
  where: 'Wo',
  oldName: 'Bisheriger Name',
  oldWhen: 'Bisherige Zeit',
  oldWhere: 'Bisheriger Ort',
  ticket: 'Karte',
  seat: 'Tisch oder Platz',
  seats: 'Anzahl der Plätze',
  until: 'Angebot gilt bis',
  passReference: 'Kartennummer',
  others: 'Ihre Eintrittskarten mit anderer Kartennummer sind davon nicht betroffen.',
  picture: {
    alt: 'QR-Code Ihrer Eintrittskarte',
    caption: 'Zeigen Sie diesen Code am Einlass',
    hint: 'Kein Code zu sehen? Er ist als pass.png angehängt.',
  },
  confirmation: (eventName) => ({
    subject: `Ihre Eintrittskarte: ${eventName}`,
    preview: 'Sie sind angemeldet. Zeigen Sie am Einlass den QR-Code.',
    news: `Sie sind angemeldet: ${eventName}.`,
    calendar: 'Mit der angehängten Datei kommt der Termin in Ihren Kalender.',
  }),
  'event-updated': (eventName) => ({
    subject: `Neue Zeit oder neuer Ort: ${eventName}`,
    preview: 'Bitte beachten Sie die neue Zeit und den neuen Ort. Ihre Eintrittskarte bleibt gültig.',
    news: `Zeit oder Ort haben sich geändert: ${eventName}.`,
    next: 'Ihre Eintrittskarte bleibt gültig. Sie brauchen keine neue.',
    calendar: 'Die angehängte Datei aktualisiert den Termin in Ihrem Kalender.',
  }),
  cancellation: (eventName) => ({
    subject: `Storniert: ${eventName}`,
    preview: 'Ihre Eintrittskarte gilt nicht mehr.',
    news: `Ihre Anmeldung wurde storniert: ${eventName}. Diese Eintrittskarte gilt am Einlass nicht mehr.`,
    next: 'Wenn Sie das nicht erwartet haben, wenden Sie sich an den Shop, in dem Sie sich angemeldet haben.',
    calendar: 'Die angehängte Datei entfernt den Termin aus Ihrem Kalender.',
  }),
  'waiting-offer': (eventName) => ({
    subject: `Sie sind auf der Warteliste an der Reihe: ${eventName}`,
    preview: 'Die Plätze sind für Sie reserviert. Nehmen Sie das Angebot rechtzeitig an.',
    news: `Sie sind auf der Warteliste an der Reihe: ${eventName}. Die Plätze sind für Sie reserviert.`,
    next:
      'Um das Angebot anzunehmen, gehen Sie zu dem Shop, in dem Sie sich auf die Warteliste gesetzt haben. ' +
      'Wenn Sie es nicht rechtzeitig annehmen, bekommen andere die Plätze.',
    calendar: null,
    why: `Sie erhalten diese E-Mail, weil diese Adresse auf der Warteliste steht: ${eventName}.`,
  }),
};

export type Words = typeof ENGLISH;

/** Texts of e-mails to attendees and to contacts of waiting lists, by language. */
export const WORDS: Record<Language, Words> = { en: ENGLISH, de: GERMAN };
