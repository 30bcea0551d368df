import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const documents = [
  ...globSync(['*.md', 'docker/*.md'], { cwd: root }),
  ...globSync('apps/docs/**/*.md', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] }),
];

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** The document without its code blocks. */
const proseOf = (file: string) => read(file).replaceAll(/^```.*?^```/gms, '');

const matches = (prose: string, pattern: RegExp) => [...prose.matchAll(pattern)].map(([, match]) => match!);

/** The anchors of a document's headings: those that GitHub and VitePress write alike. */
function anchorsOf(file: string): string[] {
  const headings = matches(proseOf(file), /^#+ (.+)$/gm).map((heading) => heading.toLowerCase());
  return headings.map(anchorOnGitHub).filter((anchor, index) => anchor === anchorOnSite(headings[index]!));
}

const anchorOnGitHub = (heading: string) => heading.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
const anchorOnSite = (heading: string) =>
  heading.replaceAll(/[^\p{L}\p{N}_]+/gu, '-').replaceAll(/^-|-$/g, '');

function isDead(from: string, link: string): boolean {
  const [name, anchor] = link.split('#', 2) as [string, string?];
  const file = name === '' ? from : path.join(path.dirname(from), name);
  if (!existsSync(path.join(root, file))) return true;
  return anchor !== undefined && !anchorsOf(file).includes(anchor);
}

/** What `find` finds in the prose of each document, with the document's name. */
const everywhere = (find: (prose: string, file: string) => string[]) =>
  documents.flatMap((file) => find(proseOf(file), file).map((found) => `${file}: ${found}`));

test('every link leads to a file, and to a heading of it', () => {
  const dead = everywhere((prose, file) => {
    const links = matches(prose, /\]\(([^)\s]+)\)/g).filter((link) => !/^[a-z]+:/.test(link));
    return links.filter((link) => isDead(file, link));
  });
  expect(dead).toEqual([]);
});

test('every path of this repository that is named is there', () => {
  const missing = everywhere((prose, file) => {
    // The changelog speaks of what was.
    if (file === 'CHANGELOG.md') return [];
    const paths = matches(prose, /`((?:apps|packages|test|docker)\/[\w./-]+)`/g);
    return paths.filter((name) => !existsSync(path.join(root, name)));
  });
  expect(missing).toEqual([]);
});

test('every source file that is named without its folder is there', () => {
  const files = globSync(['{apps,packages,test,docker}/**/*.{ts,mjs,json}', '*.json'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  const missing = everywhere((prose, file) => {
    if (file === 'CHANGELOG.md') return [];
    const names = matches(prose, /`([\w./-]+\.(?:ts|mjs|json))`/g).filter(
      (name) => !/^[./]|^(?:apps|packages|test|docker)\//.test(name),
    );
    return names.filter((name) => !files.some((one) => one === name || one.endsWith(`/${name}`)));
  });
  expect(missing).toEqual([]);
});

test('every test file that a document names is there', () => {
  const tests = new Set(
    globSync('{apps,packages,test}/**/*.test.ts', { cwd: root }).map((file) => path.basename(file)),
  );
  const missing = everywhere((prose) =>
    matches(prose, /([\w-]+\.test\.ts)/g).filter((name) => !tests.has(name)),
  );
  expect(missing).toEqual([]);
});

test('the list of decisions has each of them, once', () => {
  const records = globSync('apps/docs/decisions/[0-9]*.md', { cwd: root }).map((file) => path.basename(file));
  const listed = [...read('apps/docs/decisions/index.md').matchAll(/\]\(([^)]+)\)/g)].map(
    ([, link]) => link!,
  );
  expect(listed.toSorted()).toEqual(records.toSorted());
});
