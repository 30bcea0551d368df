import { html } from 'ghtml';
import type { Language } from '@floodgate/events';
import { factTable, heading, layout, TEXT, textMail } from './layout.ts';
import { WORDS } from './words.ts';

/** The data of the e-mail about a changed event. */
export interface EventUpdate {
  language: Language;
  eventName: string;
  /** As the event's visitors read it; null: not known. */
  when: string | null;
  venue: string | null;
  /** Null: no name in the greeting. */
  name: string | null;
  hasCalendar: boolean;
}

const factsOf = ({ language, when, venue }: EventUpdate): [string, string | null][] => [
  [WORDS[language].when, when],
  [WORDS[language].where, venue],
];

const hintsOf = ({ language, hasCalendar }: EventUpdate) => [
  WORDS[language].passStaysValid,
  ...(hasCalendar ? [WORDS[language].updatedCalendar] : []),
];

/** Returns the e-mail as text. */
export function eventUpdatedText(update: EventUpdate): string {
  const words = WORDS[update.language];
  const intro = [words.greeting(update.name), '', words.updated(update.eventName)];
  return textMail({ intro, facts: factsOf(update), rest: hintsOf(update), why: words.why(update.eventName) });
}

/** Returns the e-mail as HTML. */
export function eventUpdatedHtml(update: EventUpdate): string {
  const { language, eventName, name } = update;
  const words = WORDS[language];
  return layout({
    language,
    title: words.updatedSubject(eventName),
    preview: words.updatedPreview,
    why: words.why(eventName),
    body: html`!${heading(eventName)}
      <p class="text" style="margin:0 0 24px;!${TEXT}">
        ${words.greeting(name)}<br />${words.updated(eventName)}
      </p>
      !${factTable(factsOf(update))}
      <p class="text" style="margin:20px 0 0;!${TEXT}">${hintsOf(update).join(' ')}</p>`,
  });
}
