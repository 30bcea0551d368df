import { html } from 'ghtml';
import type { Format } from './format.ts';
import { shownHtml, type Shown } from './html.ts';

/** A column of a table. */
export interface Column<Thing> {
  /** Its heading. Empty: a column of actions. */
  head: string;
  /** A number is formatted, and stands at the right. */
  cell: (thing: Thing) => Shown;
}

interface ListingOptions<Thing> {
  /** The name of the table. Shown if `isTitled`, and always read out. */
  caption: string;
  isTitled?: boolean;
  things: readonly Thing[] | undefined;
  columns: readonly (Column<Thing> | false | undefined)[];
  /** In place of a table without rows. */
  empty: string;
  format: Format;
}

/** Returns a table of things, or a sentence if there are none. On a narrow screen, each thing is a block. */
export function listing<Thing>({
  caption,
  isTitled,
  things = [],
  columns,
  empty,
  format,
}: ListingOptions<Thing>) {
  const title = isTitled ? html`<h2>${caption}</h2>` : '';
  if (things.length === 0)
    return html`!${title}
      <p class="none">${empty}</p>`;
  const shown = columns.filter((column) => column !== false && column !== undefined);
  const cells = things.map((thing) => shown.map(({ cell }) => cell(thing)));
  const isNumber = shown.map(
    (_, index) =>
      cells.some((row) => typeof row[index] === 'number') &&
      cells.every((row) => typeof row[index] === 'number' || isNone(row[index])),
  );
  const classOf = (index: number) => (isNumber[index] ? 'class="number"' : '');
  return html`!${title}
    <div class="scroll" role="region" aria-label="${caption}" tabindex="0">
      <table>
        <caption class="unseen">
          ${caption}
        </caption>
        <thead>
          <tr>
            !${shown.map(({ head }, index) => headHtml(head, classOf(index)))}
          </tr>
        </thead>
        <tbody>
          !${cells.map((row) => rowHtml(row, shown, format, classOf))}
        </tbody>
      </table>
    </div>`;
}

const isNone = (shown: Shown) => shown === null || shown === undefined;

const headHtml = (head: string, attributes: string) =>
  head ? html`<th scope="col" !${attributes}>${head}</th>` : html`<td !${attributes}></td>`;

const rowHtml = (
  row: readonly Shown[],
  columns: readonly { head: string }[],
  format: Format,
  classOf: (index: number) => string,
) =>
  html`<tr>
    !${row.map((cell, index) => {
      const shown = typeof cell === 'number' ? format.number(cell) : cell;
      return html`<td data-label="${columns[index]!.head}" !${classOf(index)}>!${shownHtml(shown)}</td>`;
    })}
  </tr>`;
