import { globSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDocument } from '../harness/contract-document.ts';
import { strictReader } from '../harness/described.ts';
import { startExample } from './example.ts';
import { blocksOf, isLike, type Block } from './page.ts';
import { canRun, createProject, runBlock } from './run-block.ts';

const guide = path.resolve(import.meta.dirname, '../../apps/docs/guide');
/** Those that cancel what the others show. */
const LAST = ['change-or-cancel', 'test-mode'];
/** These pages have tests of their own: blocks of the client's are one program, and those of webhooks go on until they are stopped. */
const PAGES = globSync('*.md', { cwd: guide })
  .map((file) => path.basename(file, '.md'))
  .filter((page) => page !== 'client' && page !== 'webhooks')
  .toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b));
/** What a program of the guide prints where all goes well. */
const GOES_WELL =
  /^(?:registered (?:GALA-|once)|the sale is open|the list of partner \d+ is complete|welcome: ticket)/;
const RUNNABLE = ['sh', 'js', 'ts', 'python'];

/** Names of all headers that the document describes. */
const HEADERS = new Set(
  Array.from(
    JSON.stringify(readDocument().paths).matchAll(
      /"([A-Za-z-]+)":\{"schema"|"in":"header","name":"([a-z-]+)"/g,
    ),
    ([, answered, sent]) => (answered ?? sent)!.toLowerCase(),
  ),
);

/** The code of the answer that a block shows; where it shows none, that of success. */
function shownCode(block: Block | undefined): string {
  if (block?.language !== 'json') return '00';
  return (JSON.parse(block.code) as { responseCode?: string }).responseCode ?? '00';
}

/** Runs the page's blocks in order, and holds what is printed below one against what came of it. */
async function tryPage(blocks: readonly Block[], project: string, variables: Record<string, string>) {
  let printed: string | undefined;
  for (const [index, block] of blocks.entries()) {
    const where = `line ${block.line}`;
    if (RUNNABLE.includes(block.language)) {
      printed = await runBlock(block, project, variables);
      if (printed.startsWith('{'))
        expect([where, JSON.parse(printed)]).toEqual([
          where,
          expect.objectContaining({ responseCode: shownCode(blocks[index + 1]) }),
        ]);
      if (['js', 'ts', 'python'].includes(block.language))
        expect([where, printed]).toEqual([where, expect.stringMatching(GOES_WELL)]);
    } else if (block.language === 'json') {
      const example: unknown = JSON.parse(block.code);
      expect([where, strictReader().knows(example)]).toEqual([where, true]);
      // What stands there without a call shows a body alone.
      if (printed)
        expect([where, isLike(example, JSON.parse(printed)), printed]).toEqual([where, true, printed]);
      printed = undefined;
    }
  }
}

// One service for all of them: the keys of their examples differ.
let example: Awaited<ReturnType<typeof startExample>>;
beforeAll(async () => {
  example = await startExample();
});
afterAll(() => example.close());

// Three generators and two compilers take their time where others want the processor, too.
test.each(PAGES)('what %s tells to do can be done, and gives what it shows', async (page) => {
  const blocks = blocksOf(page).filter(({ language }) => canRun(language));
  const unknown = blocks.filter(({ language }) => ![...RUNNABLE, 'json', 'http', ''].includes(language));
  expect(unknown).toEqual([]);
  const project = createProject(page);
  try {
    const { variables } = example;
    // A seat that was admitted cannot be cancelled or changed.
    const own = page === 'change-or-cancel' ? { PASS_REFERENCE: await example.register() } : {};
    await tryPage(blocks, project, { ...variables, ...own });
  } finally {
    rmSync(project, { recursive: true });
  }
});

test('the headers that the pages show are those of the contract', () => {
  const shown = PAGES.flatMap((page) => blocksOf(page))
    .filter(({ language }) => language === 'http')
    .flatMap(({ code }) => Array.from(code.matchAll(/^([A-Za-z-]+): /gm), ([, name]) => name!.toLowerCase()));
  expect(shown.length).toBeGreaterThan(0);
  expect(shown.filter((name) => !HEADERS.has(name))).toEqual([]);
});
