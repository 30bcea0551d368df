import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BenchResults } from '../results.ts';
import { renderHtml } from './html.ts';

export interface ResultPaths {
  json: string;
  html: string;
  latestJson: string;
  latestHtml: string;
}

/** Writes the results as JSON and HTML, under the time of the run and as the latest. */
export async function writeResults(directory: string, results: BenchResults): Promise<ResultPaths> {
  // Some systems do not allow colons in file names.
  const name = results.startedAt.replaceAll(/[^\w.-]/g, '-');
  const json = `${JSON.stringify(results, null, 2)}\n`;
  const html = renderHtml(results);
  const paths = {
    json: path.join(directory, `${name}.json`),
    html: path.join(directory, `${name}.html`),
    latestJson: path.join(directory, 'latest.json'),
    latestHtml: path.join(directory, 'latest.html'),
  };
  await mkdir(directory, { recursive: true });
  await Promise.all([
    writeFile(paths.json, json),
    writeFile(paths.html, html),
    writeFile(paths.latestJson, json),
    writeFile(paths.latestHtml, html),
  ]);
  return paths;
}
