import { html } from 'ghtml';
import type { Tab } from './page.ts';

/** Returns links to the pages below a tab. */
export const subTabs = (name: string, tabs: readonly Tab[]) =>
  html`<nav class="subtabs" aria-label="${name}">
    !${tabs.map(
      (tab) => html`<a href="${tab.href}" !${tab.isCurrent ? 'aria-current="page"' : ''}>${tab.name}</a>`,
    )}
  </nav>`;
