// npm run bench: compares Floodgate with other designs and with ceilings on this machine. Runs are paired (A B B A …). Each has a new
// database and a warm-up, and counts only if its books balance. The comparison uses ratios within pairs: a single figure mostly shows how
// busy the machine was.
import path from 'node:path';
import { chooseKind, type Kind } from './kinds.ts';
import { parseOptions, USAGE, type Options } from './options.ts';
import { Progress } from './progress.ts';
import { readProvenance } from './provenance.ts';
import { renderTable } from './report/table.ts';
import { writeResults } from './report/write-results.ts';
import type { BenchResults } from './results.ts';
import { startServers } from './servers.ts';

const startedAt = new Date().toISOString();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));

const { options, kind } = await readCommandLine();
const progress = new Progress(kind.seconds);
try {
  const results = await measure();
  progress.end();
  await report(results);
} catch (error) {
  progress.end();
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}
process.exit();

async function readCommandLine(): Promise<{ options: Options; kind: Kind }> {
  try {
    const parsed = parseOptions(process.argv.slice(2));
    if (!parsed.help) return { options: parsed, kind: await chooseKind(parsed) };
    process.stdout.write(USAGE);
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return process.exit(2);
  }
}

async function measure(): Promise<BenchResults> {
  await using servers = await startServers();
  const measured = await kind.measure(servers, progress, stop.signal);
  return {
    startedAt,
    ...readProvenance(),
    versions: { node: process.version, ...servers.versions },
    contenders: [],
    workloads: [],
    runs: [],
    comparisons: [],
    targets: [],
    ...measured,
  };
}

async function report(results: BenchResults): Promise<void> {
  process.stdout.write(`${renderTable(results)}\n`);
  const written = await writeResults(options.out, results);
  process.stdout.write(`\n${path.relative('.', written.html)} and ${path.relative('.', written.json)}\n`);
  // A comparison of two checkouts is invalid if one of its runs was discarded.
  const isIncomplete = results.checkouts && results.runs.some((run) => run.discarded);
  if (isIncomplete) process.exitCode = 1;
}
