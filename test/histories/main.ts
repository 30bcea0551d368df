import { checkHistory } from './check-history.ts';
import { readHistoryFile } from './history-file.ts';

const USAGE = `npm run test:history -- FILE...

Reads histories that "npm run test:faults" has written, and checks each ticket as a counter that is never below 0 and
never above its capacity. Exits 1 if one of them is refused, 2 if one cannot be decided.`;

/** Prints what is wrong with a file. Returns the exit code. */
function check(path: string): number {
  const history = readHistoryFile(path);
  const startedAt = performance.now();
  const { tickets, calls, seats, soldOut, refusals, relaxed, undecided } = checkHistory(history);
  const ms = Math.round(performance.now() - startedAt);
  for (const { line, problem } of refusals) {
    const call = history.calls[line - 2];
    process.stdout.write(`${path}:${line}: refused: ${problem}\n`);
    if (call) process.stdout.write(`  ${JSON.stringify({ ...call, line: undefined })}\n`);
  }
  for (const problem of undecided) process.stdout.write(`${path}: undecided: ${problem}\n`);
  if (refusals.length + undecided.length === 0)
    process.stdout.write(
      `${path}: ok: ${calls} calls, ${seats} seats of ${tickets} tickets, ` +
        `${soldOut.judged} answers "sold out" (${soldOut.leftOut} more not judged), ` +
        `${relaxed} tickets relaxed, ${ms} ms\n`,
    );
  if (refusals.length > 0) return 1;
  return undecided.length > 0 ? 2 : 0;
}

const files = process.argv.slice(2).filter((argument) => argument !== '--');
if (files.length === 0) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}
process.exitCode = Math.max(...files.map(check));
