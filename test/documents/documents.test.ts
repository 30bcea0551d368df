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

interface DecisionRecord {
  file: string;
  /** Of the file name. */
  number: number;
  /** What stands between the lines `---` at the start. */
  frontMatter: string;
  /** Number of the record that replaced it. Null: it is accepted. */
  replacedBy: number | null;
}

function readRecord(file: string): DecisionRecord {
  const frontMatter = /^---\n(.*?)\n---\n/s.exec(read(file))?.[1] ?? '';
  const replacedBy = /^status: replaced by (\d+)$/m.exec(frontMatter)?.[1];
  return {
    file,
    number: Number.parseInt(path.basename(file), 10),
    frontMatter,
    replacedBy: replacedBy === undefined ? null : Number(replacedBy),
  };
}

const records = globSync('apps/docs/decisions/{.,replaced}/[0-9]*.md', { cwd: root }).map(readRecord);

test('every decision record has a status, a subject of the index, and its number in its heading', () => {
  const subjects = Object.keys(JSON.parse(read('apps/docs/decisions/subjects.json')) as object).join('|');
  const form = new RegExp(
    `^status: (accepted|replaced by \\d+)\nsubject: (${subjects})(\nmerged: \\d+(, \\d+)*)?$`,
  );
  const wrong = records.filter(
    ({ file, number, frontMatter }) => !form.test(frontMatter) || !read(file).includes(`\n# ${number}. `),
  );
  expect(wrong.map(({ file }) => file)).toEqual([]);
});

test('a replaced record is in the folder of replaced records, and names an accepted record', () => {
  const accepted = new Set(records.filter((one) => one.replacedBy === null).map(({ number }) => number));
  const wrong = records.filter(({ file, replacedBy }) => {
    const isInFolder = path.basename(path.dirname(file)) === 'replaced';
    return isInFolder !== (replacedBy !== null) || (replacedBy !== null && !accepted.has(replacedBy));
  });
  expect(wrong.map(({ file }) => file)).toEqual([]);
});

test('no number of a decision is used twice, and each is found', () => {
  const pages = [...records.map(({ file }) => file), ...documents.filter((file) => file.includes('/notes/'))];
  const merged = pages.flatMap((file) =>
    matches(read(file), /^merged: (.+)$/gm).flatMap((all) => all.split(', ')),
  );
  const numbers = [...records.map(({ number }) => number), ...merged.map(Number)].toSorted((a, b) => a - b);
  const all = Array.from({ length: Math.max(...numbers) }, (_, index) => index + 1);
  // There never was a decision 73.
  expect(numbers).toEqual(all.filter((number) => number !== 73));
});

test('the list of decisions has each of them, once', () => {
  const listed = matches(read('apps/docs/decisions/index.md'), /^- \[.+?\]\(([^)]+)\)/gm);
  const files = records.map(({ file }) => path.relative('apps/docs/decisions', file));
  expect(listed.toSorted()).toEqual(files.toSorted());
});
