import { html } from 'ghtml';
import type { Language } from '@floodgate/events';
import { factTable, heading, layout, TEXT, textMail } from './layout.ts';
import { WORDS } from './words.ts';

/** The data of the e-mail about a confirmed registration. */
export interface Confirmation {
  language: Language;
  eventName: string;
  /** As the event's visitors read it; null: not known. */
  when: string | null;
  venue: string | null;
  /** Null: no name in the greeting. */
  name: string | null;
  ticket: string;
  seat: string | null;
  passReference: string;
  hasCalendar: boolean;
  /** URL of the pass's picture: its Content-ID. */
  qrSource: string;
}

function factsOf({
  language,
  when,
  venue,
  ticket,
  seat,
  passReference,
}: Confirmation): [string, string | null][] {
  const words = WORDS[language];
  return [
    [words.when, when],
    [words.where, venue],
    [words.ticket, ticket],
    [words.seat, seat],
    [words.passReference, passReference],
  ];
}

/** Returns the e-mail as text. */
export function confirmationText(confirmation: Confirmation): string {
  const { language, name, eventName, hasCalendar } = confirmation;
  const words = WORDS[language];
  return textMail({
    intro: [words.greeting(name), '', words.confirmed(eventName)],
    facts: factsOf(confirmation),
    rest: [`${words.showThis}: pass.png`, ...(hasCalendar ? [words.calendar] : [])],
    why: words.why(eventName),
  });
}

/** Returns the e-mail as HTML: one page that loads its picture only. */
export function confirmationHtml(confirmation: Confirmation): string {
  const { language, eventName } = confirmation;
  const words = WORDS[language];
  return layout({
    language,
    title: words.subject(eventName),
    preview: words.preview,
    body: body(confirmation),
    why: words.why(eventName),
  });
}

function body(confirmation: Confirmation): string {
  const { language, name, eventName, qrSource, hasCalendar } = confirmation;
  const words = WORDS[language];
  const hints = [words.pictureMissing, ...(hasCalendar ? [words.calendar] : [])].join(' ');
  return html`!${heading(eventName)}
    <p class="text" style="margin:0 0 24px;!${TEXT}">
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
              width="196"
              height="196"
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
    !${factTable(factsOf(confirmation))}
    <p class="quiet" style="margin:20px 0 0;color:#5b6573;font-size:14px;line-height:1.5">${hints}</p>`;
}
