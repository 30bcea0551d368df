import { mayUse, mayUseSomewhere, type OperatorPrincipal, type Scope } from '@floodgate/operators';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { valueWords, type Words } from '../words/index.ts';
import { alertHtml, type Html, type Shown, shownHtml, together } from './html.ts';
import type { Viewer } from './viewer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer;
  }
  interface FastifyInstance {
    /**
     * The present findings about the installation, for the top of every page. Null: nobody is signed in. It reads
     * nothing.
     */
    banner: (viewer: Viewer, operator: OperatorPrincipal | null) => readonly Notice[];
  }
}

/** A problem of the installation, with the page that says what to do. */
export interface Notice {
  text: string;
  /** The address of the entry of the runbook. */
  help: string;
}

/** A part of a subject that has a page of its own. */
export interface Tab {
  href: string;
  name: string;
  isCurrent: boolean;
}

/** The content of a page. */
export interface Page {
  title: string;
  /** The language of the title, if it is not that of the page. */
  titleLanguage?: string;
  /** States, next to the title. */
  chips?: Html;
  /** Below the title: what the subject is, in a sentence. */
  about?: Shown;
  /** The pages above this one, the outermost first. */
  path?: readonly Html[];
  /** At the right of the title: what can be done. */
  actions?: readonly Html[];
  tabs?: readonly Tab[];
  parts: readonly string[];
  /**
   * The page of the documents that explains this one: "operate/jobs#retry". Absent: the part of the page about
   * the console that its address belongs to. Empty: none.
   */
  help?: string;
  /** Seconds after which the browser asks again, for what is not there yet. */
  refreshSeconds?: number;
}

/** The part of the page about the console that explains a page, by the beginning of its address. */
const HELP = [
  ['/events', 'events'],
  ['/tickets', 'events'],
  ['/live', 'live'],
  ['/people', 'people'],
  ['/partners', 'partners'],
  ['/deliveries', 'deliveries'],
  ['/webhooks', 'deliveries'],
  ['/jobs', 'jobs'],
  ['/health', 'health'],
  ['/access', 'access'],
  ['/audit', 'audit'],
  ['/account', 'your-account'],
  ['/sign-in', 'sign-in'],
  ['/do', 'forms'],
] as const;

function helpOf(url: string) {
  const { pathname } = new URL(url, 'http://console');
  const part = HELP.find(([path]) => pathname === path || pathname.startsWith(`${path}/`))?.[1];
  return `operate/console${part ? `#${part}` : pathname === '/' ? '#events' : ''}`;
}

/** The menu: each page with the scope that it requires, for an event at least, or for all. */
const MENU = [
  ['/', 'events', 'events:read', 'an event'],
  ['/people', 'people', 'attendees:read', 'an event'],
  ['/partners', 'partners', 'partners:read', 'all'],
  ['/deliveries', 'deliveries', 'mail:read', 'an event'],
  ['/jobs', 'jobs', 'queue:read', 'an event'],
  ['/health', 'health', 'queue:read', 'all'],
  ['/access', 'access', 'access:read', 'all'],
  ['/audit', 'audit', 'audit:read', 'an event'],
] as const satisfies readonly [string, keyof Words['shell']['pages'], Scope, string][];

const menuOf = (operator: OperatorPrincipal) =>
  MENU.filter(([, , scope, of]) => (of === 'all' ? mayUse : mayUseSomewhere)(operator, scope));

/** Returns whether an address belongs to a page of the menu: "/events/7" to "/". */
function isWithin(path: string, page: string) {
  if (page === '/') return path === '/' || path.startsWith('/events');
  return path === page || path.startsWith(`${page}/`);
}

/** Answers with a page. */
export function sendPage(reply: FastifyReply, page: Page) {
  const { viewer, operator } = reply.request;
  const { words, language } = viewer;
  if (page.refreshSeconds !== undefined) void reply.header('refresh', String(page.refreshSeconds));
  const text = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${page.title} – Floodgate</title>
        <link rel="stylesheet" href="/assets/console.css" />
        <link rel="icon" href="data:," />
        <script type="module" src="/assets/console.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">${words.shell.skip}</a>
        <header>!${operator ? headerHtml(reply.request, operator) : '<strong>Floodgate</strong>'}</header>
        !${bannerHtml(reply.request)}
        <main id="main" tabindex="-1">!${mainHtml({ help: helpOf(reply.request.url), ...page }, words)}</main>
      </body>
    </html>`;
  return reply.type('text/html; charset=utf-8').send(text);
}

const titleHtml = ({ title, titleLanguage, chips }: Page) =>
  html`<h1 !${titleLanguage ? html`lang="${titleLanguage}"` : ''}>${title} !${chips?.text ?? ''}</h1>`;

function mainHtml(page: Page, { shell }: Words) {
  const { about, path = [], actions = [], tabs = [], parts, help } = page;
  return [
    path.length > 0 &&
      html`<nav class="crumbs" aria-label="${shell.path}">!${path.map(({ text }) => text).join(' / ')}</nav>`,
    html`<div class="head">
      <div>!${titleHtml(page)} !${about ? html`<p class="sub">!${shownHtml(about)}</p>` : ''}</div>
      <div class="buttons">!${together(...actions).text}</div>
    </div>`,
    tabs.length > 0 && tabsHtml(tabs, shell.tabs),
    ...parts,
    help && html`<p class="help"><a href="/help/${help}">${shell.help}</a></p>`,
  ]
    .filter(Boolean)
    .join('\n');
}

const tabsHtml = (tabs: readonly Tab[], name: string) =>
  html`<nav class="tabs" aria-label="${name}">
    !${tabs.map(
      (tab) => html`<a href="${tab.href}" !${tab.isCurrent ? 'aria-current="page"' : ''}>${tab.name}</a>`,
    )}
  </nav>`;

function bannerHtml({ server, viewer, operator }: FastifyRequest) {
  const notices = server.banner(viewer, operator);
  if (notices.length === 0) return '';
  const shown = notices.length > MOST_NOTICES ? notices.slice(0, 1) : notices;
  const others = notices.slice(shown.length);
  return html`<div class="banner" role="alert">
    !${noticesHtml(shown, viewer.words)} !${others.length > 0 ? foldedNoticesHtml(others, viewer) : ''}
  </div>`;
}

/** More would hide the page on a phone. */
const MOST_NOTICES = 2;

const foldedNoticesHtml = (notices: readonly Notice[], { words, format }: Viewer) =>
  html`<details>
    <summary>${words.shell.moreProblems(format.number(notices.length))}</summary>
    !${noticesHtml(notices, words)}
  </details>`;

/** Returns problems as a list, each with the link to what to do. */
export const noticesHtml = (notices: readonly Notice[], { shell }: Words) =>
  html`<ul class="notices">
    !${notices.map(({ text, help }) => html`<li>${text} <a href="${help}">${shell.runbook}</a></li>`)}
  </ul>`;

function headerHtml({ url, viewer: { words } }: FastifyRequest, operator: OperatorPrincipal) {
  const { shell } = words;
  const address = new URL(url, 'http://console');
  const isPeople = address.pathname === '/people';
  const asked = isPeople ? (address.searchParams.get('q') ?? '') : '';
  return html`<strong><a href="/">Floodgate</a></strong>
    !${mayUseSomewhere(operator, 'registrations:read') ? searchHtml(asked, words) : ''}
    <form class="account" method="post" action="/sign-out">
      <span>!${accountHtml(operator)} <span class="soft">(${roleText(operator, words)})</span></span>
      <button>${shell.signOut}</button>
    </form>
    <nav aria-label="${shell.menu}">
      <ul>
        !${menuOf(operator).map(([href, name]) => {
          const current = isWithin(address.pathname, href) ? 'aria-current="page"' : '';
          return html`<li><a href="${href}" !${current}>${shell.pages[name]}</a></li>`;
        })}
      </ul>
    </nav>`;
}

const searchHtml = (asked: string, { shell }: Words) =>
  html`<form class="search" role="search" method="get" action="/people" aria-label="${shell.search}">
    <input
      type="search"
      name="q"
      value="${asked}"
      aria-label="${shell.search}"
      placeholder="${shell.searchHint}"
      title="${shell.searchTitle}"
      autocomplete="off"
      required
    />
    <button>${shell.find}</button>
  </form>`;

function roleText({ role, operatorId }: OperatorPrincipal, words: Words) {
  if (role !== null) return valueWords(words, role);
  return operatorId === null ? words.shell.roleOfToken : words.shell.roleOfEvents;
}

/** Returns the name of an operator, with a link to its account. A token has none. */
const accountHtml = ({ name, operatorId }: OperatorPrincipal) =>
  operatorId === null ? html`${name}` : html`<a href="/account">${name}</a>`;

/** Returns an alert if shards do not answer: their rows are missing. */
export const awayHtml = (shards: readonly number[] = [], { shell }: Words) =>
  alertHtml(shards.length > 0 ? shell.shardsAway(shards.join(', ')) : '');
