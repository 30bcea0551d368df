import type { TSchema } from '@sinclair/typebox';
import { html } from 'ghtml';
import { decimalsOf } from '@floodgate/events/console';
import type { Format } from '../view/format.ts';
import type { Viewer } from '../view/viewer.ts';
import { fieldWords, ruleWords } from '../words/index.ts';
import { PROPOSALS, type Choice } from './choices.ts';
import { askedHtml, WAS } from './sent.ts';
import { localText } from './times.ts';

/** A field of a form, as a person sees it. */
export interface Field {
  /** The operation to which it belongs. */
  operationId: string;
  name: string;
  schema: TSchema;
  isRequired: boolean;
  /** The choices. Undefined: it is typed. */
  choices: readonly Choice[] | undefined;
  /** The text that the field had when the form was shown, if the thing exists. */
  was: string | undefined;
  /** The text in the field. */
  text: string;
  /** The rule that the text breaks. */
  problem: string | undefined;
  /** It gets the focus. */
  isFirst: boolean;
}

const partsOf = (schema: TSchema): TSchema[] => (schema['anyOf'] as TSchema[] | undefined) ?? [schema];

const hasType = (schema: TSchema, type: string) => partsOf(schema).some((part) => part['type'] === type);

export const isTime = (schema: TSchema) =>
  hasType(schema, 'Date') || schema.description === 'a time with an offset';
export const isList = (schema: TSchema) => hasType(schema, 'array');
export const isFlag = (schema: TSchema) => hasType(schema, 'boolean');
export const mayBeNull = (schema: TSchema) => hasType(schema, 'null');
export const isAmount = (schema: TSchema) => hasType(schema, 'number');
export const isNumber = (schema: TSchema) => hasType(schema, 'integer') || isAmount(schema);

/** Returns the text that stands for a value in a form, as a person in this language and zone types it. */
export function textOf(schema: TSchema, value: unknown, format: Format): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return localText(value, format.zone);
  if (Array.isArray(value)) return value.map((one) => textOf(schema, one, format)).join(',');
  if (typeof value === 'number' && !Number.isInteger(value)) {
    const text = value.toFixed(decimalsOf(null));
    return format.language === 'de' ? text.replace('.', ',') : text;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a field with its label, an example or its rule, and what is wrong with the text in it. */
export function fieldHtml(field: Field, viewer: Viewer) {
  const { operationId, name, schema, was } = field;
  const { label, hint } = fieldWords(viewer.words, name, { rule: schema.description, operationId });
  const attributes = html`aria-describedby="${name}-hint" !${stateOf(field)}`;
  return html`<div class="field">
    !${isBox(field) ? boxHtml(field, label, attributes) : labelledHtml(field, label, attributes, viewer)}
    !${askedHtml(name)}
    !${was === undefined ? '' : html`<input type="hidden" name="${WAS + name}" value="${was}" />`}
    <p class="hint" id="${name}-hint">!${hintHtml(field, hint, viewer)}</p>
  </div>`;
}

/** Returns whether a field has one box, for yes and no. */
const isBox = ({ schema, choices }: Field) => isFlag(schema) && !choices;

const stateOf = ({ problem, isFirst }: Field) =>
  [problem !== undefined && 'aria-invalid="true"', isFirst && 'autofocus'].filter(Boolean).join(' ');

/** Returns the rule that a field breaks, otherwise an example, and that it may be empty. */
function hintHtml(field: Field, hint: string, { words }: Viewer) {
  const { schema, isRequired, was, problem } = field;
  if (problem !== undefined)
    return html`<strong>${words.forms.notValid}:</strong> ${ruleWords(words, problem)}`;
  const isSaid = isBox(field) || isList(schema) || hint.includes(words.forms.emptyMeans);
  const isOptional = !isRequired && was === undefined && !isSaid;
  return html`${isOptional ? `${hint} · ${words.forms.mayBeEmpty}` : hint}`;
}

/** Returns one box for yes and no. */
const boxHtml = ({ name, text }: Field, label: string, attributes: string) =>
  html`<label class="box" for="${name}"
    ><input
      type="checkbox"
      id="${name}"
      name="${name}"
      value="true"
      !${attributes}
      !${text === 'true' ? 'checked' : ''}
    />
    ${label}</label
  >`;

function labelledHtml(field: Field, label: string, attributes: string, viewer: Viewer) {
  const { name, schema, choices, isRequired } = field;
  if (choices && isList(schema)) return boxesHtml(field, choices, label);
  const all = html`id="${name}" name="${name}" !${attributes} !${isRequired ? 'required' : ''}`;
  const control = choices ? selectHtml(field, choices, all, viewer) : inputHtml(field, all);
  return html`<label for="${name}">${label}</label> !${control}`;
}

function selectHtml({ text, was }: Field, choices: readonly Choice[], attributes: string, { words }: Viewer) {
  // A field with a value keeps one.
  const open = was === undefined || was === '' ? [{ value: '', name: words.forms.choose }] : [];
  const isForeign = text !== '' && !choices.some(({ value }) => value === text);
  const all = [...open, ...choices, ...(isForeign ? [{ value: text, name: text }] : [])];
  const option = (one: Choice) =>
    html`<option value="${one.value}" !${one.value === text ? 'selected' : ''}>${one.name}</option>`;
  return html`<select !${attributes}>
    !${all.map(option)}
  </select>`;
}

function inputHtml({ name, schema, text }: Field, attributes: string) {
  // The first line break after the tag is no part of the text.
  if (schema['contentMediaType'] === 'text/csv')
    return html`<textarea !${attributes} rows="12">${`\n${text}`}</textarea>`;
  if (isTime(schema)) return html`<input type="datetime-local" step="any" !${attributes} value="${text}" />`;
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
function boxesHtml({ name, text, problem, isFirst }: Field, choices: readonly Choice[], label: string) {
  const chosen = new Set(text.split(','));
  const invalid = problem === undefined ? '' : 'aria-invalid="true"';
  return html`<fieldset aria-describedby="${name}-hint">
    <legend>${label}</legend>
    !${choices.map(
      (one, index) =>
        html`<label class="box" for="${name}-${index}"
          ><input
            type="checkbox"
            id="${name}-${index}"
            name="${name}"
            value="${one.value}"
            !${chosen.has(one.value) ? 'checked' : ''}
            !${index === 0 && isFirst ? 'autofocus' : ''}
            !${invalid}
          />
          ${one.name}</label
        >`,
    )}
  </fieldset>`;
}
