import type { TObject, TSchema } from '@sinclair/typebox';
import { html } from 'ghtml';
import type { Texts } from '../view/html.ts';
import type { Viewer } from '../view/viewer.ts';
import { fieldWords, ruleWords, valueWords } from '../words/index.ts';
import { PROPOSALS, type Choice } from './choices.ts';
import { localText } from './times.ts';

/** A field of a form, as a person sees it. */
export interface Field {
  name: string;
  schema: TSchema;
  isRequired: boolean;
  /** What can be chosen. Undefined: it is typed. */
  choices: readonly Choice[] | undefined;
  /** The text that the field had when the form was shown, if the thing exists. */
  was: string | undefined;
}

const partsOf = (schema: TSchema): TSchema[] => (schema['anyOf'] as TSchema[] | undefined) ?? [schema];

const hasType = (schema: TSchema, type: string) => partsOf(schema).some((part) => part['type'] === type);

export const isTime = (schema: TSchema) => hasType(schema, 'Date');
export const isList = (schema: TSchema) => hasType(schema, 'array');
export const mayBeNull = (schema: TSchema) => hasType(schema, 'null');
const isNumber = (schema: TSchema) => hasType(schema, 'integer') || hasType(schema, 'number');

/** Returns the text that stands for a value in a form, with times in this zone. */
export function textOf(schema: TSchema, value: unknown, zone: string): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return localText(value, zone);
  if (Array.isArray(value)) return value.map((one) => textOf(schema, one, zone)).join(',');
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value as string | number | boolean);
}

/** Returns the fields of an operation that a form asks for, in this order. */
export function fieldsOf(
  input: TObject,
  names: readonly string[],
  choices: ReadonlyMap<string, readonly Choice[]>,
  was: Texts,
): Field[] {
  return names.map((name) => ({
    name,
    schema: input.properties[name]!,
    isRequired: input.required?.includes(name) ?? false,
    choices: choices.get(name),
    was: was[name],
  }));
}

interface FieldOptions {
  /** The text in the field. */
  text: string;
  /** The rule that the text breaks. */
  problem: string | undefined;
  viewer: Viewer;
}

/** Returns a field with its label, its rule, and what is wrong with the text in it. */
export function fieldHtml(field: Field, { text, problem, viewer }: FieldOptions) {
  const { name, schema, isRequired, was } = field;
  const { words } = viewer;
  const { label, hint } = fieldWords(words, name, schema.description);
  const about = [hint, !isRequired && was === undefined && words.forms.mayBeEmpty].filter(Boolean).join('; ');
  const attributes = html`id="${name}" name="${name}" aria-describedby="${name}-hint"
  !${isRequired ? 'required' : ''} !${problem === undefined ? '' : 'aria-invalid="true"'}`;
  const problemHtml =
    problem !== undefined && html`<strong>${words.forms.notValid}:</strong> ${ruleWords(words, problem)}`;
  const control = controlHtml(field, attributes, text, viewer);
  const wasHtml = was === undefined ? '' : html`<input type="hidden" name="was.${name}" value="${was}" />`;
  return html`<div class="field">
    !${isList(schema) && field.choices ? '' : html`<label for="${name}">${label}</label>`}
    !${control === undefined ? boxesHtml(field, label, text) : control} !${wasHtml}
    <p class="hint" id="${name}-hint">!${problemHtml || html`${about}`}</p>
  </div>`;
}

/** Returns the control of a field. Undefined: it has a box for each choice. */
function controlHtml({ name, schema, isRequired, choices }: Field, attributes: string, text: string, viewer: Viewer) {
  const { words } = viewer;
  if (choices && isList(schema)) return undefined;
  const chosen = choices ?? wordsOfSchema(schema)?.map((value) => ({ value, name: valueWords(words, value) }));
  if (chosen) {
    const all = isRequired && text !== '' ? chosen : [{ value: '', name: words.forms.choose }, ...chosen];
    const option = (one: Choice) =>
      html`<option value="${one.value}" !${one.value === text ? 'selected' : ''}>${one.name}</option>`;
    return html`<select !${attributes}>
      !${all.map(option)}
    </select>`;
  }
  // The first line break after the tag is no part of the text.
  if (schema['contentMediaType'] === 'text/csv')
    return html`<textarea !${attributes} rows="12">${`\n${text}`}</textarea>`;
  if (isTime(schema)) return html`<input type="datetime-local" !${attributes} value="${text}" />`;
  const proposals = PROPOSALS[name]?.();
  const list = proposals
    ? html`<datalist id="${name}-list">
        !${proposals.map((one) => html`<option value="${one}"></option>`)}
      </datalist>`
    : '';
  const listed = proposals ? html`list="${name}-list"` : '';
  const mode = isNumber(schema) ? 'inputmode="decimal"' : '';
  return html`<input !${attributes} value="${text}" autocomplete="off" !${mode} !${listed} />!${list}`;
}

/** Returns a box for each choice of a list. */
function boxesHtml({ name, choices = [] }: Field, label: string, text: string) {
  const chosen = new Set(text.split(','));
  return html`<fieldset aria-describedby="${name}-hint">
    <legend>${label}</legend>
    !${choices.map(
      (one, index) =>
        html`<label class="box"
          ><input type="checkbox" id="${name}-${index}" name="${name}" value="${one.value}"
            !${chosen.has(one.value) ? 'checked' : ''} />
          ${one.name}</label
        >`,
    )}
  </fieldset>`;
}

/** Returns the words that a field can have. Undefined: any text. */
function wordsOfSchema(schema: TSchema): string[] | undefined {
  if (schema['type'] === 'boolean') return ['true', 'false'];
  const words = (schema['anyOf'] as TSchema[] | undefined)?.map((one): unknown =>
    one['type'] === 'null' ? 'none' : one['const'],
  );
  return words?.every((word) => typeof word === 'string') ? words : undefined;
}
