// Finds tests of the gate that depend on how fast the machine is: upper bounds on elapsed time, fixed waits,
// and clocks in expectations. Such a test fails on a busy machine although the code is right. It belongs to
// the timing tier, or decides by order and counts with a ManualClock (test/harness/manual-clock.ts). Exits 1
// if it finds one.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { filesByTier } from '../../test/tiers.ts';

const root = path.resolve(import.meta.dirname, '../..');

const CLOCK = String.raw`(?:performance|Date)\.now\(`;
/** Names of durations: `tookMs`, `ANSWER_WITHIN_MS`, `elapsed`. */
const DURATION = String.raw`(?:\b\w*(?:tookMs|elapsed\w*|durationMs|WITHIN_MS|LIMIT_MS|MARGIN_MS)\b)`;

/**
 * Forbidden in a statement of a test, by the reason. A comment "time:" above the statement says why it is
 * allowed there.
 */
const RULES = {
  'waits for a fixed time: wait for a condition (waitUntil)':
    /(?<![.\w])(?:delay|setTimeout|pg_sleep|sleep)\((?!clock\b)/,
  'compares a clock: decide by order or counts': new RegExp(String.raw`expect\((?:[^;]*?)${CLOCK}`),
  'bounds elapsed time': new RegExp(
    String.raw`expect\([^;]*(?:${DURATION}|\w+At - \w+At\b)[^;]*\)\s*\.toBeLessThan` +
      String.raw`|\.toBeLessThan(?:OrEqual)?\([^;]*${DURATION}`,
  ),
  'gives a condition less time than a busy machine may need: leave the limit of waitUntil':
    /waitUntil\((?:[^;]*?),\s*(?:\d[\d_]*|[A-Z_]*MS),?\s*\)\s*;/,
};

const problems = filesByTier().gate.flatMap((file) => {
  const text = readFileSync(path.join(root, file), 'utf8');
  let line = 1;
  // A statement ends with a semicolon at the end of a line. Blocks end in other ways, so a piece can hold
  // several statements.
  return text.split(/(?<=;\n|\{\n)/).flatMap((statement) => {
    const found = Object.entries(RULES)
      .filter(
        ([, pattern]) =>
          pattern.test(statement.replaceAll(/\/\/.*/g, '')) && !/\/\/ time: \S/.test(statement),
      )
      .map(([reason]) => `${file}:${line + leadingLines(statement)}: ${reason}`);
    line += statement.split('\n').length - 1;
    return found;
  });
});

function leadingLines(statement) {
  return statement.length - statement.trimStart().length === 0
    ? 0
    : statement.slice(0, statement.search(/\S/)).split('\n').length - 1;
}

process.stdout.write(problems.map((problem) => `${problem}\n`).join(''));
process.exitCode = problems.length > 0 ? 1 : 0;
