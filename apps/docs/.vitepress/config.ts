import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type DefaultTheme } from 'vitepress';

const root = path.resolve(import.meta.dirname, '..');

/** A page's link, under its own heading. */
function page(file: string): DefaultTheme.SidebarItem {
  const heading = /^# (.+)$/m.exec(readFileSync(path.join(root, `${file}.md`), 'utf8'));
  return { text: heading?.[1] ?? file, link: `/${file.replace(/\bindex$/, '')}` };
}

/** A folder's pages in this order. Throws where a page would be missing from the sidebar. */
function section(text: string, folder: string, names: string[]): DefaultTheme.SidebarItem {
  const missing = pagesOf(folder).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`${folder}: not in the sidebar: ${missing.join(', ')}`);
  return sectionOf(text, folder, names);
}

const sectionOf = (text: string, folder: string, names: string[]): DefaultTheme.SidebarItem => ({
  text,
  collapsed: false,
  items: names.map((name) => page(`${folder}/${name}`)),
});

const pagesOf = (folder: string) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    // Decision 100 follows 99.
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));

const WIDE_PAGES = /^(reference|reliability\/faults|performance\/benchmark)\b/;

const decisions = pagesOf('decisions').filter((name) => name !== 'index');

/** Folds a section away. */
const collapsed = (item: DefaultTheme.SidebarItem): DefaultTheme.SidebarItem => ({
  ...item,
  collapsed: true,
});

/** One folder's pages in several sections. The last one, `More`, has the pages that no other section lists. */
function sections(folder: string, groups: Record<string, string[]>): DefaultTheme.SidebarItem[] {
  const listed = new Set(Object.values(groups).flat());
  const more = pagesOf(folder).filter((name) => !listed.has(name));
  return Object.entries({ ...groups, ...(more.length > 0 && { More: more }) }).map(([text, names]) =>
    sectionOf(text, folder, names),
  );
}

const PARTNERS = sections('guide', {
  Start: ['first-call', 'test-mode', 'answers', 'limits', 'going-live', 'questions'],
  Sell: ['baskets', 'bulk', 'people', 'allocations', 'waiting-list', 'launch'],
  'After the sale': ['registrations', 'webhooks', 'change-or-cancel', 'passes', 'admissions'],
  Tools: ['client', 'generated-clients', 'compatibility', 'api-changelog'],
});

const OPERATORS = sections('operate', {
  Install: ['install', 'docker', 'kubernetes', 'systemd', 'upgrade'],
  Plan: ['scale', 'capacity', 'failover', 'backup'],
  Sell: ['launch', 'money', 'allocations', 'guests', 'waiting-list', 'doors', 'jobs', 'reports'],
  'Send to attendees and partners': ['mail', 'webhooks'],
  'Watch and repair': ['runbook', 'console', 'command-line', 'health', 'monitoring'],
});

const REFERENCE = section('Reference', 'reference', ['response-codes', 'settings', 'cli']);

const INSIDE = [
  section('Contribute', 'contribute', ['recipes']),
  section('Reliability', 'reliability', ['faults', 'outages', 'testing']),
  section('Performance', 'performance', ['benchmark', 'where-the-time-goes']),
  section('Security', 'security', ['threats', 'open']),
  section('How it works', 'how-it-works', [
    'index',
    'guarantees',
    'http',
    'reads',
    'overload',
    'group-commit',
    'exactly-once',
    'outbox',
    'journal',
    'deliveries',
    'door',
    'sql-functions',
    'database',
    'processes',
  ]),
  section('Notes', 'notes', ['glossary', 'libraries', 'limits', 'measurements']),
  {
    text: 'Decisions',
    collapsed: true,
    items: ['index', ...decisions].map((name) => page(`decisions/${name}`)),
  },
];

// Nothing here asks the network: fonts come with the theme, the search is in the pages.
export default defineConfig({
  title: 'Floodgate',
  description: 'Event registration for partner platforms: nothing accepted is lost, no seat is sold twice.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: '/favicon.svg', type: 'image/svg+xml' }]],
  outDir: 'dist',
  cacheDir: '../../node_modules/.cache/vitepress',
  // Pages of wide tables: an outline would only take their room.
  transformPageData: ({ relativePath, frontmatter }) =>
    WIDE_PAGES.test(relativePath) ? { frontmatter: { ...frontmatter, aside: false } } : undefined,
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Partners', link: '/guide/first-call', activeMatch: '/guide/' },
      { text: 'Operators', link: '/operate/install', activeMatch: '/operate/' },
      { text: 'Reference', link: '/reference/settings', activeMatch: '/reference/' },
      { text: 'Inside', link: '/how-it-works/', activeMatch: '/how-it-works/' },
    ],
    // Each reader gets their own pages: operators would have to scroll past all pages of partners.
    sidebar: {
      '/guide/': [...PARTNERS, REFERENCE],
      '/operate/': [...OPERATORS, REFERENCE],
      '/reference/': [REFERENCE, ...OPERATORS.map(collapsed), ...PARTNERS.map(collapsed)],
      '/': [...INSIDE, ...OPERATORS.map(collapsed), REFERENCE],
    },
    docFooter: { prev: 'Before', next: 'Next' },
  },
});
