import type { TObject, TSchema } from '@sinclair/typebox';
import { InvalidInput } from '@floodgate/service';
import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { Language } from '../view/format.ts';
import { isZone } from '../view/viewer.ts';
import { factsOf, type Asked } from './asked.ts';
import { isAmount, isFlag, isList, isNumber, isTime, mayBeNull } from './fields.ts';
import { amountText, wholeText } from './numbers.ts';
import { ASKED, isGiven, TYPED, WAS } from './sent.ts';
import { instantText } from './times.ts';

/** A number of people from which on it must be typed. */
export const LARGE = 100;

/** Nothing in a form was changed, so nothing happens. */
export class Unchanged extends Error {
  override name = 'Unchanged';
}

/** Throws if a form concerns many, and their number was not typed. */
export async function assertTyped(page: PageRequest, asked: Asked, given: Texts) {
  const count = (await factsOf(asked).concerns?.(page, given)) ?? 0;
  if (count < LARGE || (given[TYPED] ?? '').replaceAll(/\D/g, '') === String(count)) return;
  throw new InvalidInput({ [TYPED]: page.words.forms.wrongNumber });
}

/**
 * Returns the fields of a form that somebody changed, as operations take them. A field that was emptied stands
 * for none, if there can be none. An operation that replaces the whole gets the others as well. Throws Unchanged
 * if the thing exists, and no field is other than before.
 */
export function changedFields(page: PageRequest, asked: Asked, given: Texts) {
  const { properties } = asked.operation.input;
  const zone = isZone(given['timeZone']) ? given['timeZone'] : page.format.zone;
  const changed: Texts = {};
  const kept: Texts = {};
  for (const [name, schema] of Object.entries(properties)) {
    const [text, was] = [sentText(schema, name, given), given[WAS + name]];
    // An empty field is absent, unless it had a text.
    const isAbsent = text === undefined || (text === '' && !was);
    if (isAbsent) continue;
    const isKept = isAsBefore(schema, name, text, given);
    const typed = { language: page.format.language, zone };
    (isKept ? kept : changed)[name] = isEmptied(schema, text, was) ? 'none' : meantText(schema, text, typed);
  }
  assertChanged(asked, given, changed);
  // PUT replaces the whole: a cap that is not sent would be none.
  return asked.operation.method === 'PUT' ? { ...kept, ...changed } : changed;
}

function assertChanged({ operation, definition }: Asked, given: Texts, changed: Texts) {
  const before = Object.keys(given).filter((name) => name.startsWith(WAS));
  if (!definition.current || before.length === 0) return;
  const isChanged = before.some((name) => changed[name.slice(WAS.length)] !== undefined);
  if (!isChanged && !hasGivenChange(operation.input, given)) throw new Unchanged();
}

/** Returns the text of a field. A browser sends nothing for boxes that are not checked. */
function sentText(schema: TSchema, name: string, given: Texts) {
  if (given[name] !== undefined || given[ASKED + name] === undefined) return given[name];
  if (isList(schema)) return '';
  return isFlag(schema) && given[WAS + name] !== undefined ? 'false' : undefined;
}

/**
 * Returns whether a field has the text that it had when the form was shown. A form that changes the zone keeps
 * what the clock shows, so its times change.
 */
function isAsBefore(schema: TSchema, name: string, text: string, given: Texts) {
  if (text !== given[WAS + name]) return false;
  const { timeZone } = given;
  const isMoved = isTime(schema) && text !== '' && isZone(timeZone) && timeZone !== given[`${WAS}timeZone`];
  return !isMoved || given[`${WAS}timeZone`] === undefined;
}

/** Returns whether somebody took away the text of a field that can have none. */
const isEmptied = (schema: TSchema, text: string, was: string | undefined) =>
  text === '' && Boolean(was) && mayBeNull(schema);

/** Returns the text that an operation takes in place of what a person of this language and zone types. */
export function meantText(
  schema: TSchema,
  text: string,
  { language, zone }: { language: Language; zone: string },
) {
  if (isTime(schema)) return instantText(text, zone);
  if (isAmount(schema)) return amountText(text, language);
  return isNumber(schema) ? wholeText(text, language) : text;
}

/** Returns whether a link gave the form more than what it is about: that the sale stops. */
const hasGivenChange = ({ properties }: TObject, given: Texts) =>
  Object.keys(properties).some((name) => name !== 'name' && !name.endsWith('Id') && isGiven(given, name));
