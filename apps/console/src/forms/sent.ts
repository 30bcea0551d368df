import { Type } from '@sinclair/typebox';
import { html } from 'ghtml';
import type { Texts } from '../view/html.ts';

/** The fields of a form as they are sent. A list has its field several times. */
export type Sent = Partial<Record<string, string | string[]>>;

export const SentBody = {
  schema: { body: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])) },
};

/** The field in which a large number is typed. */
export const TYPED = 'confirmed';
/** Before the name of a field: the text that it had when the form was shown. */
export const WAS = 'was.';
/** Before the name of a field that the form asks for: the others come from its address. */
export const ASKED = 'asked.';

/**
 * Returns hidden fields that say what a form asks for. Without one, a field counts as given by a link, and the
 * form that follows a refusal does not ask for it again.
 */
export const askedHtml = (...names: readonly string[]) =>
  names.map((name) => html`<input type="hidden" name="${ASKED + name}" value="" />`).join('');

/** Returns the fields as texts. Those of a list are joined. */
export const textsOf = (sent: Sent): Texts =>
  Object.fromEntries(
    Object.entries(sent).map(([name, text]) => [name, Array.isArray(text) ? text.join(',') : (text ?? '')]),
  );

/** Fields whose texts can be secrets: a pass opens a door, and a URL of a partner can contain a key. */
const SECRET = /^(?:was\.)?(?:token|url)$|password|secret/i;

/**
 * Returns the fields of a form that was sent without a session, for the page to sign in: somebody else may
 * read that page, so it has no secrets.
 */
export const keptTexts = (sent: object): Texts =>
  Object.fromEntries(Object.entries(textsOf(sent as Sent)).filter(([name]) => !SECRET.test(name)));

/** Returns whether a value is given by the address, and not asked for: an id, or what a link says. */
export const isGiven = (given: Texts, name: string) =>
  Boolean(given[name]) && given[WAS + name] === undefined && given[ASKED + name] === undefined;
