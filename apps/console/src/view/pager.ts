import { html } from 'ghtml';
import type { Words } from '../words/index.ts';

/** Returns links to the pages around a page of a list. Undefined: there is none. */
export function pager({ shell }: Words, previous: string | undefined, next: string | undefined) {
  if (previous === undefined && next === undefined) return '';
  return html`<p class="actions">
    !${previous === undefined ? '' : html`<a class="button" rel="prev" href="${previous}">${shell.previous}</a>`}
    !${next === undefined ? '' : html`<a class="button" rel="next" href="${next}">${shell.next}</a>`}
  </p>`;
}
