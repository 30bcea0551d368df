// node packages/toolchain/english.mjs lists phrases that are not plain English in Markdown, comments and
// messages. It skips tests, the benchmark and generated pages. Exits 1 if it finds a phrase.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';

/** Start of a sentence: the start of a comment or paragraph, or the end of the previous sentence. */
const START = String.raw`(?<=^\s*(?:\/\/ |-- |\/?\*\*? |- )?|[.!?] )`;
/** Excludes questions. */
const NO_QUESTION = String.raw`(?![^.?!\n]*\?)`;

const RULES = {
  'old-fashioned words': /\b(in vain|anew|under way|once more|of late|to be had|of its own accord)\b/gi,
  'old-fashioned phrases': /\b(as many as there|pass(es|ed)? over|by then|comes again|from where)\b/gi,
  'tell, in place of publish, notify, report or send':
    /\b((tell|tells|told) of|(is|are|was|were) told|given up for)\b/gi,
  'whoever, in place of the one that acts': /\b(whoever|who has the|whose turn|has its turn)\b/gi,
  '"beside", in place of "next to" or "in addition to"': /\bbeside\b/gi,
  'a sentence whose subject is a clause': new RegExp(
    `${START}(Who|Whose|What|Whatever) (?!is new)${NO_QUESTION}`,
    'gm',
  ),
};

const GENERATED = /^apps\/docs\/reference\//;
const NO_PRODUCT = /\.test\.ts$|test-support|^apps\/(docs|bench)\/.*\.(ts|mjs|js)$/;
const READ = /\.md$|^(apps|packages)\/.*\.(ts|tsx|mjs|js|sql)$/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => READ.test(file) && ![GENERATED, NO_PRODUCT].some((left) => left.test(file)))
  // This file has the phrases.
  .filter((file) => file !== 'packages/toolchain/english.mjs');

for (const file of files) {
  const text = readFileSync(file, 'utf8');
  for (const [rule, pattern] of Object.entries(RULES))
    for (const match of text.matchAll(pattern)) {
      process.exitCode = 1;
      const line = text.slice(0, match.index).split('\n').length;
      process.stdout.write(`${file}:${line}: ${match[0].trim()} (${rule})\n`);
    }
}
