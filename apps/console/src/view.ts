import { html } from 'ghtml';
import { actions, alertHtml, Html, link, together, type Texts } from './view/html.ts';
import { personPath } from './pages/names.ts';
import { wordsOf } from './words/index.ts';

export { actions, alertHtml, Html, link, together, type Texts };

/** The values that a page shows, by heading. Every value can be shown. */
export type Cells = Readonly<Record<string, unknown>>;

/** Returns these fields of a thing as cells, in this order. */
export const cellsOf = <Thing extends object>(thing: Thing, ...names: (keyof Thing & string)[]): Cells =>
  Object.fromEntries(names.map((name) => [name, thing[name]]));

export const eventLink = (id: number) => link(`/events/${id}`, id);

/** Returns a link to a registration. */
export const passLink = (passReference: string) => link(personPath(passReference), passReference);

const MILLISECONDS = /Ms$/;

/** Returns a cell as HTML: times in UTC, durations in seconds, lists with commas. */
function cellHtml(name: string, cell: unknown) {
  if (cell === null || cell === undefined || cell === '') return '<span class="none">–</span>';
  if (typeof cell === 'object') return objectHtml(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell === 'number' && MILLISECONDS.test(name)) return html`${(cell / 1_000).toFixed(1)} s`;
  return html`${textOf(cell)}`;
}

function objectHtml(cell: object) {
  if (cell instanceof Html) return cell.text;
  if (Array.isArray(cell)) return html`${cell.map(textOf).join(', ')}`;
  if (!(cell instanceof Date)) return html`<code>${JSON.stringify(cell)}</code>`;
  const iso = cell.toISOString();
  return html`<time datetime="${iso}">${iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</time>`;
}

const textOf = (element: unknown) => (typeof element === 'string' ? element : JSON.stringify(element));

const tableRow = (cells: readonly string[]) =>
  html`<tr>
    !${cells}
  </tr>`;

/** Returns a table of things. `rowOf` returns the cells of a thing. */
export function table<Thing>(
  caption: string,
  things: readonly Thing[] | undefined,
  rowOf: (thing: Thing) => Cells,
) {
  const rows = things?.map(rowOf) ?? [];
  if (rows.length === 0)
    return html`<h2>${caption}</h2>
      <p class="none">None</p>`;
  const names = Object.keys(rows[0]!);
  const isNumeric = names.map((name) => rows.every((row) => typeof row[name] === 'number'));
  const headings = names.map((name) => html`<th scope="col">${wordsOf(name)}</th>`);
  const cellsIn = (row: Cells) =>
    names.map((name, index) => {
      const attributes = html`data-label="${wordsOf(name)}" !${isNumeric[index] ? 'class="number"' : ''}`;
      return html`<td !${attributes}>!${cellHtml(name, row[name])}</td>`;
    });
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        !${tableRow(headings)}
      </thead>
      <tbody>
        !${rows.map((row) => tableRow(cellsIn(row)))}
      </tbody>
    </table>
  </div>`;
}

/** Returns an alert if shards do not answer: their rows are missing. */
export const awayHtml = (shards: readonly number[] = []) =>
  alertHtml(shards.length > 0 ? `Shards that do not answer: ${shards.join(', ')}` : '');

/** Returns the cells of one thing. */
export const fields = (cells: Cells) =>
  html`<dl>
    !${Object.entries(cells).map(
      ([name, cell]) =>
        html`<div>
          <dt>${wordsOf(name)}</dt>
          <dd>!${cellHtml(name, cell)}</dd>
        </div>`,
    )}
  </dl>`;

const labelled = (name: string, control: string) =>
  html`<div class="field"><label for="${name}">${wordsOf(name)}</label>!${control}</div>`;

/** Returns a field of a form that an operator fills. */
export const inputField = (name: string, attributes: string) =>
  labelled(name, html`<input id="${name}" name="${name}" !${attributes} />`);
