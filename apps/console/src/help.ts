import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Token } from 'markdown-it';

const ROOT = path.resolve(import.meta.dirname, '../../docs');
/** The folders of the documents that operators read. The others are about the inside. */
const FOLDERS = ['operate', 'guide', 'reference'] as const;

/** A page of the documents. */
export interface HelpPage {
  title: string;
  html: string;
}

/** Returns the names of the pages in a folder: "operate/runbook". */
export const pagesIn = (folder: (typeof FOLDERS)[number]) =>
  readdirSync(path.join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name.slice(0, -'.md'.length)}`)
    .toSorted();

/** The names of all pages, read once. Only these files are ever opened. */
let names: ReadonlySet<string> | undefined;

const isPage = (name: string) => (names ??= new Set(FOLDERS.flatMap(pagesIn))).has(name);

const shown = new Map<string, Promise<HelpPage>>();

/** Resolves to a page of the documents as HTML, or undefined if there is none of this name. */
export async function readHelp(name: string): Promise<HelpPage | undefined> {
  return isPage(name) ? shown.getOrInsertComputed(name, render) : undefined;
}

/** Returns the heading of a page. */
export const titleOf = (name: string) => splitTitle(readPage(name)).title;

const readPage = (name: string) => readFileSync(path.join(ROOT, `${name}.md`), 'utf8');

const FRONT_MATTER = /^---\n[^]*?\n---\n/;
const COMMENT = /^<!--[^]*?-->\n?/gm;

/** Returns the first heading of a page, and the rest. */
function splitTitle(text: string) {
  const [heading = '', title = ''] = /^# (.+)\n/m.exec(text) ?? [];
  const rest = text.replace(FRONT_MATTER, '').replaceAll(COMMENT, '').replace(heading, '');
  return { title: title.replaceAll('`', ''), rest };
}

async function render(name: string): Promise<HelpPage> {
  const { title, rest } = splitTitle(readPage(name));
  // Only this page needs it.
  const { default: Markdown } = await import('markdown-it');
  // Without HTML: the files are ours, but a page of the console shows nothing that is not escaped.
  const markdown = new Markdown({ html: false });
  const tokens = markdown.parse(rest, {});
  anchorHeadings(tokens);
  for (const { children } of tokens) if (children) leadToPages(children, path.posix.dirname(name));
  const { rules } = markdown.renderer;
  // A part that is wider than the screen can be scrolled, by the keyboard too.
  const fence = rules['fence']!;
  rules['fence'] = (...given) => fence(...given).replace('<pre>', '<pre tabindex="0">');
  rules['table_open'] = () =>
    '<div class="wide" tabindex="0" role="region" aria-label="table"><table class="plain">';
  rules['table_close'] = () => '</table></div>';
  return { title, html: markdown.renderer.render(tokens, markdown.options, {}) };
}

/** Gives headings the anchors of the documentation site. A heading that exists already has a number at its end. */
function anchorHeadings(tokens: readonly Token[]) {
  const anchors = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const texts = tokens[index + 1]?.children?.map(({ content }) => content) ?? [];
    const slug = slugOf(texts.join(''));
    const count = anchors.get(slug) ?? 0;
    anchors.set(slug, count + 1);
    token.attrSet('id', count === 0 ? slug : `${slug}-${count}`);
  }
}

/** Lets links lead to pages of the console. The text of a link to another page of the documents stays. */
function leadToPages(tokens: readonly Token[], folder: string) {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.type === 'link_open') {
      open.push(token);
      const href = hrefOf(String(token.attrGet('href') ?? ''), folder);
      if (href !== undefined) token.attrSet('href', href);
      else Object.assign(token, { tag: 'span', attrs: null });
    } else if (token.type === 'link_close') token.tag = open.pop()?.tag ?? 'span';
  }
}

/** Returns the address of the target of a link. Undefined: it has no page here. */
function hrefOf(target: string, folder: string) {
  if (/^https?:/.test(target)) return target;
  const [file = '', anchor] = target.split('#');
  const end = anchor === undefined ? '' : `#${anchor}`;
  if (file === '') return end;
  const name = path.posix.join(folder, file).replace(/\.md$/, '');
  return isPage(name) ? `/help/${name}${end}` : undefined;
}

const COMBINING = /[\u0300-\u036F]/g;
const SPECIAL = /[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g;

/** Returns the anchor of a heading. The documentation site has the same rule (@mdit-vue/shared). */
export const slugOf = (heading: string) =>
  heading
    .normalize('NFKD')
    .replaceAll(COMBINING, '')
    .replaceAll(SPECIAL, '-')
    .replace(/^-+|-+$/g, '')
    .replace(/^(\d)/, '_$1')
    .toLowerCase();
