// npm run bench: measures Floodgate, and compares it with other designs and with ceilings on this machine.
// Comparisons use ratios of neighbouring turns: a single figure mostly shows how busy the machine was.
import { setMaxListeners } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseOptions, usage, type Options } from './options.ts';
import { Progress } from './progress.ts';
import { readProvenance } from './provenance.ts';
import { renderMarkdown } from './report/markdown.ts';
import { renderPage } from './report/page.ts';
import { Results } from './report/results.ts';
import { startServers } from './servers.ts';

const startedAt = new Date().toISOString();
const stop = new AbortController();
// Each load listens to it.
setMaxListeners(0, stop.signal);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));

const { options, seconds } = readCommandLine();
const progress = new Progress(seconds);
try {
  const results = new Results();
  const versions = await measure(results);
  progress.end();
  await report(results, readProvenance(startedAt, versions));
} catch (error) {
  progress.end();
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}
process.exit();

/** Returns the options and the expected duration. */
function readCommandLine(): { options: Options; seconds: number } {
  try {
    const parsed = parseOptions(process.argv.slice(2));
    if (!parsed.help) return { options: parsed, seconds: parsed.mode.duration(parsed.settings) };
    process.stdout.write(usage());
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage()}`);
    return process.exit(2);
  }
}

/** Resolves to the versions of Node.js and the servers. */
async function measure(results: Results): Promise<Record<string, string>> {
  await using servers = await startServers();
  const { mode, settings } = options;
  await mode.measure({ servers, results, progress, signal: stop.signal }, settings);
  return { node: process.version, ...servers.versions };
}

/**
 * Prints the results and writes them as Markdown, JSON and a page. Sets the exit code if something was
 * discarded.
 */
async function report(results: Results, provenance: string): Promise<void> {
  const markdown = renderMarkdown(results, provenance);
  process.stdout.write(markdown);
  // Some systems do not allow colons in file names.
  const file = path.join(options.out, startedAt.replaceAll(':', '-'));
  await mkdir(options.out, { recursive: true });
  const { figures, discarded } = results;
  await writeFile(`${file}.json`, `${JSON.stringify({ provenance, figures, discarded }, null, 2)}\n`);
  await writeFile(`${file}.md`, markdown);
  await writeFile(`${file}.html`, renderPage(results, provenance));
  process.stdout.write(`\n${path.relative('.', `${file}.html`)}\n`);
  if (discarded.length > 0) process.exitCode = 1;
}
