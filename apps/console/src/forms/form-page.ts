import { Forbidden, type Operation } from '@floodgate/operators';
import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { requestOf, type PageRequest } from '../add-page.ts';
import { callerOf, filledInput, mayOpen, type ConsoleContext, type Operations } from '../operations.ts';
import { problemOf, Refusal, requireScope } from '../principals.ts';
import { resultPages } from '../result-pages.ts';
import { alertHtml, type Texts } from '../view/html.ts';
import { pathOf } from '../view/path-of.ts';
import { sendPage } from '../view/page.ts';
import { operationWords, ruleWords } from '../words/index.ts';
import { CHOICES, type Choice } from './choices.ts';
import { FORMS, type FormDefinition } from './definitions.ts';
import { fieldHtml, fieldsOf, isList, isTime, mayBeNull, textOf } from './fields.ts';
import { instantText } from './times.ts';

/** The fields of a form as they are sent. A list has its field several times. */
type Sent = Partial<Record<string, string | string[]>>;

const SentBody = { schema: { body: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])) } };

/** A number of people from which on it must be typed. */
const LARGE = 100;
/** The field in which it is typed. */
const TYPED = 'confirmed';
/** Before the name of a field: the text that it had when the form was shown. */
const WAS = 'was.';
/** Before the name of a field that the form asks for: the others come from its address. */
const ASKED = 'asked.';

/** A form: an operation, or a part of its fields. */
interface Asked {
  operation: Operation;
  definition: FormDefinition;
  /** The fields that the form asks for. Undefined: all but those that the address gives. */
  names: readonly string[] | undefined;
  /** Where it is sent. */
  action: string;
}

/** Returns the fields as texts. Those of a list are joined. */
const textsOf = (sent: Sent): Texts =>
  Object.fromEntries(
    Object.entries(sent).map(([name, text]) => [name, Array.isArray(text) ? text.join(',') : (text ?? '')]),
  );

/** Returns the page to show after an operation, which then says that it is done. */
function afterwards(back: string, id: string) {
  const url = new URL(back, 'http://console');
  url.searchParams.set('done', id);
  return url.pathname + url.search;
}

/**
 * Adds a page with a form for each operation that is not a GET, and for each part of one. After it, the browser
 * returns to the page in `back`, or gets the result, if no other page has it.
 */
export function addForms(app: FastifyInstance, context: ConsoleContext) {
  const { db, log, operations } = context;
  const pages = resultPages(operations);
  const find = askedOf(operations);
  const show = async (request: FastifyRequest, reply: FastifyReply, asked: Asked, given: Texts, problem?: Problem) => {
    const page = await requestOf(request, { scopes: [asked.operation.scope], isList: true }, context, given);
    return sendPage(reply, { ...(await formPage(page, asked, given, problem)) });
  };
  app.get<{ Params: FormParams; Querystring: Texts }>('/do/:id', (request, reply) => {
    const asked = find(request.params);
    assertMayOpen(request, asked.operation);
    return show(request, reply, asked, request.query);
  });
  app.get<{ Params: FormParams; Querystring: Texts }>('/do/:id/:part', (request, reply) => {
    const asked = find(request.params);
    assertMayOpen(request, asked.operation);
    return show(request, reply, asked, request.query);
  });
  const submit = async (asked: Asked, request: FastifyRequest<{ Body: Sent }>, reply: FastifyReply) => {
    const { operation, definition } = asked;
    const operator = requireScope(request, operation.scope);
    const { words } = request.viewer;
    const given = textsOf(request.body);
    const back = pathOf(given['back']);
    try {
      const page = await requestOf(request, { scopes: [operation.scope], isList: true }, context, given);
      await assertTyped(page, asked, given);
      const filled = filledInput(operation.input, await changedFields(page, asked, given));
      const resultPage = pages.get(operation.id);
      if (resultPage) {
        const result = await resultPage(db, filled, operator, request.viewer);
        const { title } = operationWords(words, operation);
        return await sendPage(reply, { title, parts: [result, html`<p><a href="${back}">${words.forms.continue}</a></p>`] });
      }
      const result = await operation.run(db, filled, callerOf(operator));
      const next = definition.next?.(result as never, given) ?? back;
      const isSaid = definition.isShownByNext ?? false;
      return await reply.redirect(isSaid ? next : afterwards(next, operation.id), 303);
    } catch (error) {
      const { status, title, detail = '', invalid } = problemOf(error, request, log);
      if (status >= 500 || status === 401) throw error;
      const note = error instanceof InvalidInput ? '' : `${title}: ${ruleWords(words, detail)}`;
      void reply.code(status);
      return show(request, reply, asked, given, { note, invalid: invalid ?? {} });
    }
  };
  app.post<{ Params: FormParams; Body: Sent }>('/do/:id', SentBody, (request, reply) =>
    submit(find(request.params), request, reply),
  );
  app.post<{ Params: FormParams; Body: Sent }>('/do/:id/:part', SentBody, (request, reply) =>
    submit(find(request.params), request, reply),
  );
  for (const { id, bodyLimitBytes } of Object.values<Operation>(operations)) {
    if (bodyLimitBytes === undefined) continue;
    // A form has three bytes for most characters that are neither letters nor digits.
    const options = { ...SentBody, bodyLimit: 2 * bodyLimitBytes };
    app.post<{ Body: Sent }>(`/do/${id}`, options, (request, reply) => submit(find({ id }), request, reply));
  }
  /** Answers with the form at an address, filled with what somebody typed before the session ended. */
  return async (request: FastifyRequest, reply: FastifyReply, path: string, typed: Texts) => {
    const [, , id = '', part] = path.split('?', 1)[0]!.split('/');
    const asked = find({ id, ...(part !== undefined && { part }) });
    assertMayOpen(request, asked.operation);
    return show(request, reply, asked, typed);
  };
}

interface FormParams {
  id: string;
  part?: string;
}

/** What is wrong with a form that was sent. */
interface Problem {
  note: string;
  /** The rules that fields break. */
  invalid: Texts;
}

/** Returns a function that finds a form by its address. It throws if there is none. */
function askedOf(operations: Operations) {
  const byId = new Map<string, Operation>(Object.values(operations).map((one) => [one.id, one]));
  const definitions = new Map<string, FormDefinition>(Object.entries(FORMS) as [string, FormDefinition][]);
  return ({ id, part }: FormParams): Asked => {
    const operation = byId.get(id);
    if (!operation || operation.method === 'GET') throw new Refusal(404, 'No such page');
    const definition = definitions.get(id) ?? {};
    if (part === undefined) return { operation, definition, names: undefined, action: `/do/${id}` };
    const names = definition.parts?.[part];
    if (!names) throw new Refusal(404, 'No such page');
    return { operation, definition, names, action: `/do/${id}/${part}` };
  };
}

function assertMayOpen(request: FastifyRequest, operation: Operation) {
  const operator = requireScope(request, operation.scope);
  if (!mayOpen(operator, operation)) throw new Forbidden(operation.scope, true);
}

/** Returns whether a value is given by the address, and not asked for: an id, or what a link says. */
const isGiven = (given: Texts, name: string) =>
  given[name] !== undefined && given[name] !== '' && given[`${WAS}${name}`] === undefined && given[`${ASKED}${name}`] === undefined;

async function formPage(page: PageRequest, asked: Asked, sent: Texts, problem?: Problem) {
  const { operation, definition, action } = asked;
  const given = { ...sent, ...(await definition.fixed?.(page, sent)) };
  const { viewer, words, format } = page;
  const { title, button } = operationWords(words, operation);
  const all = Object.keys(operation.input.properties);
  const names = asked.names ?? all.filter((name) => !isGiven(given, name));
  const current = (await definition.current?.(page, given)) ?? {};
  const was: Texts = {};
  for (const name of names) {
    const value: unknown = (current as Record<string, unknown>)[name];
    if (Object.hasOwn(current, name)) was[name] = given[`${WAS}${name}`] ?? textOf(operation.input.properties[name]!, value, format.zone);
  }
  const choices = new Map<string, readonly Choice[]>();
  for (const name of names) {
    const choose = CHOICES[name];
    if (choose) choices.set(name, await choose(page, given));
  }
  const fields = fieldsOf(operation.input, names, choices, was);
  const hidden = Object.entries(given).filter(
    ([name]) => !names.includes(name) && !name.startsWith(WAS) && !name.startsWith(ASKED) && name !== TYPED && name !== 'done',
  );
  const back = pathOf(given['back']);
  const count = (await definition.concerns?.(page, given)) ?? 0;
  const formHtml = html`<form class="card fields" method="post" action="${action}">
    !${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    !${names.map((name) => html`<input type="hidden" name="${ASKED}${name}" value="" />`)}
    !${fields.map((field) => {
      const text = given[field.name] ?? was[field.name] ?? '';
      return fieldHtml(field, { text, problem: problem?.invalid[field.name], viewer });
    })}
    !${fields.some(({ schema }) => isTime(schema)) ? html`<p class="hint">${words.forms.times(format.zone)}</p>` : ''}
    !${count >= LARGE ? typedHtml(words.forms.typeNumber(String(count)), problem?.invalid[TYPED]) : ''}
    <p class="buttons">
      <button class="${definition.isDangerous ? 'danger' : 'primary'}">${button}</button>
      <a class="button" href="${back}">${words.forms.cancel}</a>
    </p>
  </form>`;
  const others = Object.entries(problem?.invalid ?? {}).filter(([name]) => !names.includes(name) && name !== TYPED);
  const notes = [problem?.note ?? '', ...others.map(([, rule]) => ruleWords(words, rule))].filter(Boolean);
  const about = (await definition.about?.(page, given)) ?? '';
  return { title, parts: [alertHtml(notes.join(' ')), about, formHtml] };
}

const typedHtml = (label: string, problem: string | undefined) =>
  html`<div class="field">
    <label for="${TYPED}">${label}</label>
    <input id="${TYPED}" name="${TYPED}" inputmode="numeric" autocomplete="off" required
      aria-describedby="${TYPED}-hint" !${problem === undefined ? '' : 'aria-invalid="true"'} />
    <p class="hint" id="${TYPED}-hint">${problem ?? ''}</p>
  </div>`;

/** Throws if a form concerns many, and their number was not typed. */
async function assertTyped(page: PageRequest, { definition }: Asked, given: Texts) {
  const count = (await definition.concerns?.(page, given)) ?? 0;
  if (count < LARGE || (given[TYPED] ?? '').replaceAll(/\D/g, '') === String(count)) return;
  throw new InvalidInput({ [TYPED]: page.words.forms.wrongNumber });
}

/**
 * Returns the fields of a form that somebody changed, as operations take them. A field that was emptied stands
 * for none, if there can be none.
 */
async function changedFields(page: PageRequest, { operation, definition }: Asked, given: Texts) {
  const { properties } = operation.input;
  const changed: Texts = {};
  let isChanged = false;
  for (const [name, schema] of Object.entries(properties)) {
    // The browser sends nothing for boxes of which none is checked.
    const text = given[name] ?? (isList(schema) && given[`${ASKED}${name}`] !== undefined ? '' : undefined);
    const was = given[`${WAS}${name}`];
    if (text === undefined || (was !== undefined && text === was)) continue;
    isChanged ||= was !== undefined;
    const filled = text === '' && was !== undefined && was !== '' && mayBeNull(schema) ? 'none' : text;
    changed[name] = isTime(schema) ? instantText(filled, zoneOf(page, given)) : filled;
  }
  const hasCurrent = Object.keys(given).some((name) => name.startsWith(WAS));
  if (definition.current && hasCurrent && !isChanged && !hasGivenChange(given, properties))
    throw new InvalidInput({ [TYPED]: page.words.forms.unchanged });
  return changed;
}

/** Returns whether a link gave the form more than what it is about: that the sale stops. */
const hasGivenChange = (given: Texts, properties: object) =>
  Object.keys(properties).some((name) => !/Id$/.test(name) && isGiven(given, name));

/** Returns the zone of times in a form: that which it sets, otherwise that of the page. */
const zoneOf = ({ format }: PageRequest, given: Texts) => given['timeZone'] || format.zone;
