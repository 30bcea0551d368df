import { html } from 'ghtml';
import type { Language } from '@floodgate/events';
import { WORDS } from './words.ts';

/** What the e-mail about a confirmed registration tells. */
export interface Confirmation {
  language: Language;
  eventName: string;
  /** As the event's visitors read it; null: nobody has said. */
  when: string | null;
  venue: string | null;
  name: string;
  ticket: string;
  seat: string | null;
  passReference: string;
  hasCalendar: boolean;
  /** Where the picture of the pass is: its Content-ID, mostly. */
  qrSource: string;
}

/** Facts in rows: what it is called, and what it is. */
function factsOf({ language, when, venue, ticket, seat, passReference }: Confirmation): [string, string][] {
  const words = WORDS[language];
  const facts: [string, string | null][] = [
    [words.when, when],
    [words.where, venue],
    [words.ticket, ticket],
    [words.seat, seat],
    [words.passReference, passReference],
  ];
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

export const confirmationSubject = ({ language, eventName }: Pick<Confirmation, 'language' | 'eventName'>) =>
  WORDS[language].subject(eventName);

/** Returns the e-mail as text. */
export function confirmationText(confirmation: Confirmation): string {
  const { language, name, eventName, hasCalendar } = confirmation;
  const words = WORDS[language];
  return [
    words.greeting(name),
    '',
    words.confirmed(eventName),
    '',
    ...factsOf(confirmation).map(([label, fact]) => `${label}: ${fact}`),
    '',
    `${words.showThis}: pass.png`,
    ...(hasCalendar ? [words.calendar] : []),
    '',
    '-- ',
    words.why(eventName),
    '',
  ].join('\r\n');
}

// Colours stand in the elements, for readers that drop style sheets; those of the dark are in the sheet. The code is black on
// white in both: scanners want it so.
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

function factRow([label, fact]: [string, string]): string {
  const line = 'padding:10px 0;border-bottom:1px solid #e3e7ec;vertical-align:top';
  return html`<tr>
    <td class="label quiet line" style="!${line};padding-right:16px;width:34%;color:#5b6573;font-size:14px">
      ${label}
    </td>
    <td class="fact text line" style="!${line};color:#1b2430;font-size:16px;overflow-wrap:anywhere">
      ${fact}
    </td>
  </tr>`;
}

/** Returns the e-mail as HTML: one page that needs nothing but its picture. */
export function confirmationHtml(confirmation: Confirmation): string {
  const { language, eventName } = confirmation;
  const words = WORDS[language];
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>${words.subject(eventName)}</title>
        <style>
          !${STYLE}
        </style>
      </head>
      <body class="page" style="margin:0;padding:0;background:#f1f3f6;!${FONT}">
        <div style="display:none;max-height:0;overflow:hidden">${words.preview}</div>
        <table
          role="presentation"
          class="page"
          width="100%"
          cellpadding="0"
          cellspacing="0"
          style="background:#f1f3f6"
        >
          <tr>
            <td align="center" style="padding:24px 12px">
              <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px">
                <tr>
                  <td class="card" style="background:#ffffff;border-radius:12px;padding:32px">
                    !${body(confirmation)}
                  </td>
                </tr>
                <tr>
                  <td
                    class="quiet"
                    style="padding:16px 12px;color:#5b6573;font-size:12px;line-height:1.5;text-align:center"
                  >
                    ${words.why(eventName)}
                  </td>
                </tr>
              </table>
            </td>
          </tr>
        </table>
      </body>
    </html> `;
}

function body(confirmation: Confirmation): string {
  const { language, name, eventName, qrSource, hasCalendar } = confirmation;
  const words = WORDS[language];
  const hints = [words.pictureMissing, ...(hasCalendar ? [words.calendar] : [])].join(' ');
  return html`<h1
      class="text"
      style="margin:0 0 16px;color:#1b2430;font-size:24px;line-height:1.25;overflow-wrap:anywhere"
    >
      ${eventName}
    </h1>
    <p
      class="text"
      style="margin:0 0 24px;color:#1b2430;font-size:16px;line-height:1.5;overflow-wrap:anywhere"
    >
      ${words.greeting(name)}<br />${words.confirmed(eventName)}
    </p>
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0">
      <tr>
        <td align="center">
          <div
            style="display:inline-block;background:#ffffff;border:1px solid #e3e7ec;border-radius:12px;padding:8px"
          >
            <img
              src="${qrSource}"
              width="240"
              height="240"
              alt="${words.qrAlt}"
              style="display:block;border:0;image-rendering:pixelated"
            />
          </div>
          <p class="text" style="margin:12px 0 24px;color:#1b2430;font-size:16px;font-weight:600">
            ${words.showThis}
          </p>
        </td>
      </tr>
    </table>
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="border-collapse:collapse">
      !${factsOf(confirmation).map(factRow).join('')}
    </table>
    <p class="quiet" style="margin:20px 0 0;color:#5b6573;font-size:14px;line-height:1.5">${hints}</p>`;
}
