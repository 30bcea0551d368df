import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Page {
  /** Path from the folder of decisions. */
  file: string;
  /** Heading, for a record with its number: "1. Postgres is the truth". */
  title: string;
  /** Fields of the front matter. */
  fields: ReadonlyMap<string, string>;
}

/** Headings of the index by the `subject` in the front matter of a record, in the order of the index. */
const readSubjects = (folder: string) =>
  JSON.parse(readFileSync(path.join(folder, 'subjects.json'), 'utf8')) as Record<string, string>;

/**
 * Returns the index of decisions as Markdown: a section per subject, then records that were replaced, then numbers of
 * records that are now part of another record or of a note. Throws if a record has an unknown subject.
 */
export function describeDecisions(folder: string): string {
  const subjects = readSubjects(folder);
  const records = readPages(folder, '{.,replaced}/[0-9]*.md');
  const unknown = records.find(({ fields }) => !((fields.get('subject') ?? '') in subjects));
  if (unknown)
    throw new Error(`${unknown.file}: the subject must be one of ${Object.keys(subjects).join(', ')}`);
  const sections = Object.entries(subjects).map(([subject, heading]) =>
    describeSection(
      heading,
      records.filter(({ fields }) => isAccepted(fields) && fields.get('subject') === subject),
    ),
  );
  const replaced = records.filter(({ fields }) => !isAccepted(fields));
  const pages = [...records, ...readPages(folder, '../notes/*.md')];
  return [...sections, describeReplaced(replaced, records), describeMerged(pages)].join('\n');
}

const isAccepted = (fields: Page['fields']) => fields.get('status') === 'accepted';

/** Returns the pages in the order of their file names, numbers by value. */
function readPages(folder: string, pattern: string): Page[] {
  return globSync(pattern, { cwd: folder })
    .map((file) => file.split(path.sep).join('/'))
    .toSorted((one, other) => path.basename(one).localeCompare(path.basename(other), 'en', { numeric: true }))
    .map((file) => readPage(folder, file));
}

function readPage(folder: string, file: string): Page {
  const text = readFileSync(path.join(folder, file), 'utf8');
  const frontMatter = /^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? '';
  const fields = frontMatter.split('\n').map((line): [string, string] => {
    const [name = '', value = ''] = line.split(': ', 2);
    return [name, value];
  });
  return { file, title: /^# (.+)$/m.exec(text)?.[1] ?? '', fields: new Map(fields) };
}

function describeSection(heading: string, records: Page[]): string {
  const lines = records.map(({ title, file }) => `- [${title}](${file})`);
  return [`## ${heading}`, '', ...lines, ''].join('\n');
}

function describeReplaced(replaced: Page[], records: Page[]): string {
  const lines = replaced.map(({ title, file, fields }) => {
    const number = fields.get('status')!.replace('replaced by ', '');
    const by = records.find((record) => record.title.startsWith(`${number}. `));
    if (!by) throw new Error(`${file}: there is no record ${number}`);
    return `- [${title}](${file}), by [${number}](${by.file})`;
  });
  return ['## Replaced', '', ...lines, ''].join('\n');
}

function describeMerged(pages: Page[]): string {
  const links = pages
    .flatMap(({ file, fields }) =>
      (fields.get('merged')?.split(', ') ?? []).map((number): [number, string] => [Number(number), file]),
    )
    .toSorted(([one], [other]) => one - other)
    .map(([number, file]) => `[${number}](${file})`);
  return [
    '## Merged',
    '',
    `These numbers are now part of another record or of a note: ${links.join(', ')}.`,
    '',
  ].join('\n');
}
