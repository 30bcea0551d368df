import { mayUse, type Operation, type OperatorPrincipal } from '@floodgate/operators';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import { html } from 'ghtml';

/** The pages in the menu, each with the scope that it requires. */
const MENU = [
  ['/', 'Launches', 'events:read'],
  ['/registrations', 'Registrations', 'registrations:read'],
  ['/attendees', 'Attendees', 'attendees:read'],
  ['/partners', 'Partners', 'partners:read'],
  ['/deliveries', 'Deliveries', 'mail:read'],
  ['/failures', 'Failures', 'queue:read'],
  ['/processes', 'Processes', 'queue:read'],
  ['/operators', 'Operators', 'access:read'],
  ['/audit', 'Audit', 'audit:read'],
] as const;

/** Answers with a page: its title and its content as HTML. */
export function sendPage(reply: FastifyReply, title: string, main: string): FastifyReply {
  const { operator, url } = reply.request;
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} – Floodgate</title>
        <link rel="stylesheet" href="/assets/console.css" />
        <link rel="icon" href="data:," />
        <script type="module" src="/assets/live.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>!${operator ? header(operator, url.split('?', 1)[0]!) : '<strong>Floodgate</strong>'}</header>
        <main id="main" tabindex="-1">
          <h1>${title}</h1>
          !${main}
        </main>
      </body>
    </html>`;
  return reply.type('text/html; charset=utf-8').send(text);
}

const header = (operator: OperatorPrincipal, path: string) =>
  html`<strong>Floodgate</strong>
    <nav aria-label="Pages">
      <ul>
        !${MENU.filter(([, , scope]) => mayUse(operator, scope)).map(
          ([href, name]) =>
            html`<li><a href="${href}" !${href === path ? 'aria-current="page"' : ''}>${name}</a></li>`,
        )}
      </ul>
    </nav>
    <form method="post" action="/sign-out">
      <span>${operator.name} (${operator.role ?? 'token'})</span> <button>Sign out</button>
    </form>`;

interface Html {
  html: string;
}

/** A value, or HTML. */
type Cell = string | number | boolean | null | undefined | Date | object;

/** Marks text as HTML. */
export const raw = (text: string): Html => ({ html: text });

export const link = (href: string, name: string | number): Html =>
  raw(html`<a href="${href}">${String(name)}</a>`);

const MILLISECONDS = /Ms$/;

/** Returns a cell as HTML: times in UTC, durations in seconds, lists with commas. */
function cellHtml(name: string, cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '<span class="none">–</span>';
  if (typeof cell === 'object') return objectHtml(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell === 'number' && MILLISECONDS.test(name)) return html`${(cell / 1_000).toFixed(1)} s`;
  return html`${String(cell)}`;
}

function objectHtml(cell: object): string {
  if ('html' in cell) return (cell as Html).html;
  if (Array.isArray(cell)) return html`${cell.join(', ')}`;
  if (!(cell instanceof Date)) return html`<code>${JSON.stringify(cell)}</code>`;
  const iso = cell.toISOString();
  return html`<time datetime="${iso}">${iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</time>`;
}

/** Returns words in place of a name in camel case. */
export const wordsOf = (name: string) =>
  name
    .replace(MILLISECONDS, '')
    .replaceAll(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`)
    .replace(/^./, (first) => first.toUpperCase());

/** Returns a table. Its headings are the names of the fields. */
export function table(caption: string, rows: readonly Record<string, Cell>[] = []): string {
  if (rows.length === 0)
    return html`<h2>${caption}</h2>
      <p class="none">None</p>`;
  const names = Object.keys(rows[0]!);
  const isNumeric = names.map((name) => rows.every((row) => typeof row[name] === 'number'));
  const cells = (row: Record<string, Cell>) =>
    names.map(
      (name, index) =>
        html`<td data-label="${wordsOf(name)}" !${isNumeric[index] ? 'class="number"' : ''}>
          !${cellHtml(name, row[name])}
        </td>`,
    );
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          !${names.map((name) => html`<th scope="col">${wordsOf(name)}</th>`)}
        </tr>
      </thead>
      <tbody>
        !${rows.map(
          (row) =>
            html`<tr>
              !${cells(row)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Returns an alert if shards do not answer: their rows are missing. */
export const awayHtml = (shards: readonly number[] = []): string =>
  shards.length > 0 ? html`<p role="alert">Shards that do not answer: ${shards.join(', ')}</p>` : '';

/** Returns the fields of one thing. */
export const fields = (record: object): string =>
  html`<dl>
    !${Object.entries(record).map(
      ([name, cell]: [string, Cell]) =>
        html`<div>
          <dt>${wordsOf(name)}</dt>
          <dd>!${cellHtml(name, cell)}</dd>
        </div>`,
    )}
  </dl>`;

const addressOf = ({ id }: Operation, given: Record<string, unknown>) =>
  `/do/${id}?${new URLSearchParams(given as Record<string, string>).toString()}`;

/** Returns a link to the form of an operation, or nothing if the operator may not use it. */
export const actionLink = (
  operator: OperatorPrincipal,
  operation: Operation,
  given: Record<string, unknown>,
  name = operation.summary,
): Html =>
  raw(
    mayUse(operator, operation.scope)
      ? html`<a class="action" href="${addressOf(operation, given)}">${name}</a>`
      : '',
  );

/** Values of a form as texts, and the rules that they break. */
export interface Filled {
  given: Record<string, string>;
  invalid?: Record<string, string>;
}

/** Returns the form of an operation. Fields that are optional may be left empty. */
export function form(
  operation: Operation,
  { given, invalid = {} }: Filled,
  back: string,
  action = `/do/${operation.id}`,
): string {
  const required = operation.input.required ?? [];
  const inputs = Object.entries(operation.input.properties).map(([name, schema]) =>
    field({
      name,
      schema,
      isRequired: required.includes(name),
      text: given[name] ?? '',
      rule: invalid[name],
    }),
  );
  return html`<form class="fields" method="post" action="${action}">
    <input type="hidden" name="back" value="${back}" />
    !${inputs}
    <p><button>${operation.summary}</button> <a href="${back}">Cancel</a></p>
  </form>`;
}

interface Field {
  name: string;
  schema: TSchema;
  isRequired: boolean;
  text: string;
  rule: string | undefined;
}

function field({ name, schema, isRequired, text, rule }: Field): string {
  const choices = choicesOf(schema);
  const hint = [schema.description, !isRequired && 'may be left empty'].filter(Boolean).join('; ');
  const attributes = html`id="${name}" name="${name}" aria-describedby="${name}-hint"
  !${isRequired ? 'required' : ''} !${rule ? 'aria-invalid="true"' : ''}`;
  const option = (value: string) => html`<option !${value === text ? 'selected' : ''}>${value}</option>`;
  const input = choices
    ? html`<select !${attributes}>
        !${[...(isRequired ? [] : ['']), ...choices].map(option)}
      </select>`
    : html`<input !${attributes} value="${text}" autocomplete="off" />`;
  return html`<div class="field">
    <label for="${name}">${wordsOf(name)}</label>!${input}
    <p class="hint" id="${name}-hint">!${rule ? html`<strong>Not valid:</strong> ` : ''}${hint}</p>
  </div>`;
}

/** Returns the words that a field can have. Undefined: any text. */
function choicesOf(schema: TSchema): string[] | undefined {
  if (schema['type'] === 'boolean') return ['true', 'false'];
  const words = (schema['anyOf'] as TSchema[] | undefined)?.map((one) => one['const'] as unknown);
  return words?.every((word) => typeof word === 'string') ? words : undefined;
}
