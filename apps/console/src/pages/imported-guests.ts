import { html } from 'ghtml';
import type { Operations } from '../operations.ts';
import { figure, grid } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Viewer } from '../view/viewer.ts';
import { ruleWords } from '../words/index.ts';

type Imported = Awaited<ReturnType<Operations['guestImport']>>;

/** Returns what became of the rows of a guest list: their numbers, and those that need a look, with the reason. */
export function importedHtml(imported: Imported, { words, format }: Viewer) {
  const { imported: texts } = words.people;
  const { registered, alreadyRegistered, duplicates, refused, dryRun, ignoredColumns, rows } = imported;
  const { outcomes } = texts;
  return html`!${dryRun ? html`<p><strong>${texts.onlyTried}</strong></p>` : ''}
  !${grid(
    figure(format.number(registered), dryRun ? outcomes['would-register'] : outcomes.registered),
    figure(format.number(alreadyRegistered), outcomes.alreadyRegistered),
    figure(format.number(duplicates), outcomes.duplicates),
    figure(format.number(refused), outcomes.refused),
  )}
  !${ignoredColumns.length > 0 ? html`<p>${texts.ignored(format.list(ignoredColumns))}</p>` : ''}
  !${listing({
    caption: texts.rows,
    isTitled: true,
    things: rows.filter(({ reason }) => reason !== null),
    empty: texts.noRows,
    format,
    columns: [
      { head: texts.line, cell: ({ line }) => line },
      { head: texts.why, cell: ({ reason }) => ruleWords(words, reason ?? '') },
    ],
  })}`;
}
