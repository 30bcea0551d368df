import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { Words } from '../words/index.ts';
import type { FormDefinitions } from './definitions.ts';

type Consequence = Exclude<keyof Words['messages']['forms'], 'notifyHolders'>;

/** Returns a function that says what follows. */
const says =
  (consequence: Consequence) =>
  ({ words }: PageRequest) =>
    Promise.resolve(html`<p class="sub">${words.messages.forms[consequence]}</p>`);

/** Says what holders are told: the present time and place. */
async function aboutHolders({ read, operations, words, format }: PageRequest, { eventId = '' }: Texts) {
  const event = (await read(operations.eventShow, { eventId }))!;
  const { startsAt, endsAt, venue } = event;
  const when = startsAt ? format.span(startsAt, endsAt) : words.event.noTime;
  const text = words.messages.forms.notifyHolders(`${when}, ${venue ?? words.event.noPlace}`);
  return html`<p class="sub">${text}</p>`;
}

export const mailForms = {
  mailEnable: { about: says('enable') },
  mailPause: { about: says('pause') },
  mailResume: { about: says('resume') },
  mailDisable: { about: says('disable'), isDangerous: true },
  mailTest: { about: says('test') },
  mailResendAll: { about: says('resendAll'), isDangerous: true },
  mailUnsuppress: { about: says('lift') },
  eventNotifyHolders: { about: aboutHolders },
} satisfies FormDefinitions;
