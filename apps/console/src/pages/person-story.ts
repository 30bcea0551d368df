import { maskPassCodes } from '@floodgate/contract';
import type { StoryEntry } from '@floodgate/reports/console';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import type { Words } from '../words/index.ts';

/**
 * Returns what has happened to a seat, in order, with the authors. A step of another registration of the
 * seat says to which.
 */
export function storyHtml(
  story: readonly StoryEntry[],
  passReference: string,
  { words, format }: PageRequest,
) {
  return html`<ol class="rows story">
    !${story.map(({ at, by, passReference: of, ...entry }) => {
      const author = by === null ? '' : html` ${words.people.by(by)}`;
      const isOther = maskPassCodes(of) !== maskPassCodes(passReference);
      const other = isOther ? html` · <code>${maskPassCodes(of)}</code>` : '';
      return html`<li>
        <strong>${storyText(entry, words)}</strong>!${author}
        <span class="soft">· !${format.exactTime(at)?.text}!${other}</span>
      </li>`;
    })}
  </ol>`;
}

/** Returns an entry of a story in the language of the page. */
function storyText({ kind, facts, what }: Pick<StoryEntry, 'kind' | 'facts' | 'what'>, words: Words) {
  const { actions, story } = words.people;
  if (kind === 'action') return actions[what] ?? what;
  if (kind === 'mail') return mailText(facts, words);
  if (kind === 'corrected') return correctedText(facts, words);
  if (kind === 'failed') return story.failed(String(facts['code']));
  const { outcome = '', gate = '', device = '' } = facts;
  if (kind === 'refused') return story.refused(outcome, gate, device);
  return placeText(story[kind], gate, device);
}

/** A step at a door has a place. */
const placeText = (
  text: string | ((gate: string, device: string) => string),
  gate: string,
  device: string,
) => (typeof text === 'string' ? text : text(gate, device));

function correctedText({ fields = '' }: StoryEntry['facts'], { people }: Words) {
  const names = fields.split(',').map((field) => people.corrected[field] ?? field);
  return people.story.corrected(names.join(', '));
}

function mailText({ mail = '', state = '' }: StoryEntry['facts'], { people, messages }: Words) {
  const kinds: Partial<Record<string, string>> = messages.kinds;
  const states: Partial<Record<string, string>> = messages.states;
  return people.story.mail(kinds[mail] ?? mail, states[state] ?? state);
}
