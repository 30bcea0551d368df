import { Flag, Id } from '@floodgate/audit';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { mayOpen } from '../operations.ts';
import { alertHtml, type Texts } from '../view/html.ts';
import type { Page } from '../view/page.ts';
import { pathOf } from '../view/path-of.ts';
import { ruleWords, valueWords } from '../words/index.ts';
import { askedFields, askedOf, factsOf, missingSubject, wordsOfForm, type Asked } from './asked.ts';
import { LARGE } from './changed-fields.ts';
import { choicesOf, wordsOfSchema, type Choice } from './choices.ts';
import { fieldHtml, isFlag, isTime, mayBeNull, textOf, type Field } from './fields.ts';
import { ASKED, TYPED, WAS } from './sent.ts';

/** The faults of a form that was sent. */
export interface Problem {
  note: string;
  /** The rules that fields break. */
  invalid: Texts;
}

const NO_PROBLEM: Problem = { note: '', invalid: {} };

/** Resolves to the page with a form. If it is not known what it is about, the page asks for that first. */
export async function formPage(
  page: PageRequest,
  asked: Asked,
  given: Texts,
  problem = NO_PROBLEM,
): Promise<Page> {
  const { title } = wordsOfForm(page.words, asked, given);
  const missing = missingSubject(asked, given);
  if (missing.length > 0) return { title, parts: [await firstHtml(page, asked, missing, given)] };
  const carried = (await asked.definition.carries?.(page, given)) ?? {};
  const filled = { ...given, ...carried };
  const [about, ...follows] = ((await factsOf(asked).about?.(page, filled)) ?? []).filter(
    Boolean,
  ) as string[];
  const fields = await fieldsOf(page, asked, filled, { carried, problem });
  const shown = new Set([...fields.map(({ name }) => name), TYPED, ...Object.keys(carried)]);
  const others = Object.entries(problem.invalid).filter(([name]) => !shown.has(name));
  const notes = [problem.note, ...others.map(([, rule]) => ruleWords(page.words, rule))].filter(Boolean);
  return {
    title,
    ...(about && { about }),
    parts: [
      alertHtml(notes.join(' ')),
      (await factsOf(asked).preview?.(page, filled)) ?? '',
      ...(await startParts(page, asked, given, { carried, fields, problem, follows })),
    ],
  };
}

/** Resolves to whether the operator may do what a form says, and there is something to do. */
const canStart = async (page: PageRequest, asked: Asked, given: Texts) =>
  mayOpen(page.operator, asked.operation, page.may) &&
  ((await factsOf(asked).hasWork?.(page, given)) ?? true);

/** Resolves to the form with its button, or to what follows in its place. */
async function startParts(
  page: PageRequest,
  asked: Asked,
  given: Texts,
  { carried, ...parts }: FormParts & { carried: Texts },
) {
  const filled = { ...given, ...carried };
  if (await canStart(page, asked, filled)) return [await formHtml(page, asked, filled, parts)];
  return insteadParts(page, asked, given, { carried, follows: parts.follows });
}

/** Resolves to what follows in place of a form without work: the form that chooses, or the way back. */
async function insteadParts(
  page: PageRequest,
  { definition }: Asked,
  given: Texts,
  { carried, follows }: { carried: Texts; follows: readonly string[] },
) {
  const { words, operations } = page;
  if (definition.chosenBy) {
    const chosen = Object.entries(given).filter(([name]) => !Object.hasOwn(carried, name));
    const choose = askedOf(operations)({ id: definition.chosenBy });
    return (await formPage(page, choose, Object.fromEntries(chosen))).parts;
  }
  return [
    html`<div class="card fields">
      !${follows.map((one) => html`<p class="follows">${one}</p>`)}
      <p class="buttons"><a class="button" href="${pathOf(given['back'])}">${words.forms.cancel}</a></p>
    </div>`,
  ];
}

interface FieldsOptions {
  carried: Texts;
  problem: Problem;
}

/** Resolves to the fields that a form asks for. The first invalid one gets the focus. */
async function fieldsOf(page: PageRequest, asked: Asked, given: Texts, { carried, problem }: FieldsOptions) {
  const names = askedFields(asked, given, carried);
  const current = new Map(Object.entries((await asked.definition.current?.(page, given)) ?? {}));
  const first = names.find((name) => problem.invalid[name] !== undefined);
  const fields: Field[] = [];
  for (const name of names) {
    // Things of an event can be chosen only if it is known.
    if (await isAfterEvent(page, asked, name, given)) continue;
    const field = await fieldOf(page, asked, name, given);
    const was = current.has(name)
      ? (given[WAS + name] ?? wasText(page, field, current.get(name)))
      : undefined;
    const text = typedText(field, given) ?? was ?? '';
    fields.push({ ...field, was, text, problem: problem.invalid[name], isFirst: name === first });
  }
  return [...fields, ...boxFields(asked, given, fields)];
}

/** Returns the box of a form, if the fields that it is about have a value. */
function boxFields(asked: Asked, given: Texts, fields: readonly Field[]) {
  const box = asked.part?.box;
  const isFilled = box?.of.every((name) => fields.find((one) => one.name === name)?.was);
  return box && isFilled ? [boxField(asked, box.name, given)] : [];
}

/** Returns a box that is checked until somebody takes the mark away. */
const boxField = ({ operation }: Asked, name: string, given: Texts): Field => ({
  operationId: operation.id,
  name,
  schema: Flag,
  isRequired: false,
  choices: undefined,
  was: undefined,
  text: given[name] ?? (given[ASKED + name] === undefined ? 'true' : ''),
  problem: undefined,
  isFirst: false,
});

/** Resolves to whether a field names something of an event that is not known yet. */
async function isAfterEvent(page: PageRequest, { operation }: Asked, name: string, given: Texts) {
  const choose = choicesOf(operation.id, name);
  return choose !== undefined && (await choose(page, given)) === undefined;
}

/** Returns a field without a text. */
async function fieldOf(page: PageRequest, { operation }: Asked, name: string, given: Texts) {
  const { properties, required = [] } = operation.input;
  // The event of a thing is asked for although the operation takes the thing alone.
  const schema = properties[name] ?? Id;
  const found = (await choicesOf(operation.id, name)?.(page, given)) ?? choicesOfSchema(page, name, schema);
  const choices = found === 'typed' ? undefined : found;
  const empty = { was: undefined, text: '', problem: undefined, isFirst: false };
  return { operationId: operation.id, name, schema, isRequired: required.includes(name), choices, ...empty };
}

function choicesOfSchema(
  { words }: PageRequest,
  name: string,
  schema: Field['schema'],
): Choice[] | undefined {
  return wordsOfSchema(schema)?.map((value) => ({ value, name: valueWords(words, value, name) }));
}

/** Returns the text that a field had before, as its control sends it. */
function wasText(
  { format }: PageRequest,
  { schema, choices }: Pick<Field, 'schema' | 'choices'>,
  value: unknown,
) {
  if (value === null && choices && mayBeNull(schema) && choices.some((one) => one.value === 'none'))
    return 'none';
  return textOf(schema, value, format);
}

/** Returns what somebody typed into a field. A browser sends nothing for boxes that are not checked. */
function typedText({ name, schema, choices }: Pick<Field, 'name' | 'schema' | 'choices'>, given: Texts) {
  const isBoxes = isFlag(schema) || choices !== undefined;
  return given[name] ?? (isBoxes && given[ASKED + name] !== undefined ? '' : undefined);
}

const hiddenHtml = ([name, value]: [string, string]) =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** Returns the fields of an address or a form that it keeps, besides those that it asks for. */
const hiddenOf = (given: Texts, names: readonly string[]) =>
  Object.entries({ ...given, back: pathOf(given['back']) }).filter(
    ([name]) => ![...names, TYPED, 'done'].includes(name) && !name.startsWith(WAS) && !name.startsWith(ASKED),
  );

/** Resolves to the form that asks what the form is about: its address then has it. */
async function firstHtml(page: PageRequest, asked: Asked, missing: readonly string[], given: Texts) {
  const fields: Field[] = [];
  for (const name of missing) {
    // The event of a thing is chosen first.
    const next = (await isAfterEvent(page, asked, name, given)) ? 'eventId' : name;
    if (fields.some((field) => field.name === next)) continue;
    fields.push({ ...(await fieldOf(page, asked, next, given)), isRequired: true });
  }
  const { words, viewer } = page;
  const names = fields.map(({ name }) => name);
  return html`<form class="card fields" method="get" action="/do/${asked.name}">
    !${hiddenOf(given, names).map(hiddenHtml)} !${fields.map((field) => fieldHtml(field, viewer))}
    !${buttonsHtml('primary', words.forms.continue, given, words.forms.cancel)}
  </form>`;
}

const buttonsHtml = (kind: 'primary' | 'danger', button: string, given: Texts, cancel: string) =>
  html`<p class="buttons">
    <button class="${kind}">${button}</button>
    <a class="button" href="${pathOf(given['back'])}">${cancel}</a>
  </p>`;

interface FormParts {
  fields: readonly Field[];
  problem: Problem;
  /** Sentences above the fields. */
  follows: readonly string[];
}

/** Resolves to a form with its fields and its button. */
async function formHtml(
  page: PageRequest,
  asked: Asked,
  given: Texts,
  { fields, problem, follows }: FormParts,
) {
  const { words, format, viewer } = page;
  const { isDangerous = false, concerns } = factsOf(asked);
  const isDanger = typeof isDangerous === 'function' ? isDangerous(given) : isDangerous;
  const count = (await concerns?.(page, given)) ?? 0;
  const { button } = wordsOfForm(words, asked, given);
  const names = fields.map(({ name }) => name);
  const times = names.includes('timeZone') ? words.forms.timesOfZone : words.forms.times(format.zone);
  return html`<form class="card fields" method="post" action="/do/${asked.name}">
    !${follows.map((one) => html`<p class="follows">${one}</p>`)} !${hiddenOf(given, names).map(hiddenHtml)}
    !${fields.map((field) => fieldHtml(field, viewer))}
    !${fields.some(({ schema }) => isTime(schema)) ? html`<p class="hint">${times}</p>` : ''}
    !${count >= LARGE ? typedHtml(words.forms.typeNumber(format.number(count)), problem.invalid[TYPED]) : ''}
    !${buttonsHtml(isDanger ? 'danger' : 'primary', button, given, words.forms.cancel)}
  </form>`;
}

/** Returns the field in which a large number is typed. */
const typedHtml = (label: string, problem: string | undefined) =>
  html`<div class="field">
    <label for="${TYPED}">${label}</label>
    <input
      id="${TYPED}"
      name="${TYPED}"
      inputmode="numeric"
      autocomplete="off"
      required
      aria-describedby="${TYPED}-hint"
      !${problem === undefined ? '' : 'aria-invalid="true" autofocus'}
    />
    <p class="hint" id="${TYPED}-hint">${problem ?? ''}</p>
  </div>`;
