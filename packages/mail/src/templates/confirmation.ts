import { html } from 'ghtml';
import type { Language } from '@floodgate/events';
import { factTable, layout } from './layout.ts';
import { WORDS } from './words.ts';

/** What the e-mail about a confirmed registration tells. */
export interface Confirmation {
  language: Language;
  eventName: string;
  /** As the event's visitors read it; null: nobody has said. */
  when: string | null;
  venue: string | null;
  /** Null: it greets without a name. */
  name: string | null;
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

/** Returns the e-mail as HTML: one page that needs nothing but its picture. */
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
    !${factTable(factsOf(confirmation))}
    <p class="quiet" style="margin:20px 0 0;color:#5b6573;font-size:14px;line-height:1.5">${hints}</p>`;
}
