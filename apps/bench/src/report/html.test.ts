import { expect, test } from 'vitest';
import { renderHtml } from './html.ts';
import { DISCARDED, sampleResults } from './sample-results.test-support.ts';

const INJECTION = '<script>alert("injected")</script>';

function figureTitles(html: string): string[] {
  return [...html.matchAll(/<figcaption><h3>(.*?)<\/h3>/g)].map(([, title]) => title!);
}

test('the page loads nothing and runs nothing', () => {
  const html = renderHtml(sampleResults());
  const withoutNamespaces = html.replaceAll(/xmlns(:xlink)?="[^"]*"/g, '');
  expect(withoutNamespaces).not.toMatch(/https?:|\/\/\w+\.|@import|url\((?!#)/);
  expect(withoutNamespaces).not.toMatch(/<script|\ssrc=|<iframe|<object|<embed/);
  expect([...withoutNamespaces.matchAll(/\shref="([^"]*)"/g)].map(([, target]) => target)).toEqual([
    'data:,',
  ]);
});

test('whatever is text is escaped, in the page and in its plots', () => {
  const results = sampleResults();
  const spoiled = renderHtml({
    ...results,
    command: INJECTION,
    commit: INJECTION,
    machine: { ...results.machine, cpu: INJECTION, os: INJECTION },
    versions: { [INJECTION]: INJECTION },
    contenders: [{ name: INJECTION, description: INJECTION }],
    workloads: [{ name: INJECTION, description: INJECTION, paced: false }],
    runs: results.runs.map((run) => ({
      ...run,
      contender: INJECTION,
      workload: INJECTION,
      ...(run.discarded && { discarded: INJECTION }),
    })),
    comparisons: results.comparisons.map((one) => ({ ...one, contender: INJECTION, workload: INJECTION })),
    soak: { ...results.soak!, description: INJECTION },
    targets: [{ name: INJECTION, wanted: INJECTION, measured: 1, unit: INJECTION, met: true }],
  });
  expect(spoiled).not.toMatch(/<script/i);
  expect(spoiled).not.toContain('"injected"');
});

test('there is a plot for everything that was measured', () => {
  expect(figureTitles(renderHtml(sampleResults()))).toEqual([
    'Rate under hot ticket',
    'Floodgate’s rate ÷ contender’s rate',
    'CPU time per answer under hot ticket',
    'Time to the answer where arrivals follow a clock',
    'Resident memory under hot ticket',
    'Resident memory over time',
  ]);
});

test('there is no plot of what was not measured', () => {
  const { soak: _soak, ...results } = sampleResults();
  const runs = results.runs
    .filter((run) => run.workload === 'hot ticket')
    .map(({ cpuMicros: _cpu, residentMiB: _memory, ...run }) => run);
  expect(figureTitles(renderHtml({ ...results, runs, comparisons: [] }))).toEqual(['Rate under hot ticket']);
  expect(figureTitles(renderHtml({ ...results, runs: [], comparisons: [] }))).toEqual([]);
});

test('plots have a text alternative with their figures, and one size for screens and one for phones', () => {
  const html = renderHtml(sampleResults());
  expect(html).toMatch(/class="wide" role="img" aria-label="[^"]*floodgate, 128 connections: 10,010\/s/);
  expect(html.match(/class="narrow" role="img"/g)).toHaveLength(6);
  expect(html.match(/viewBox="0 0 360 /g)).toHaveLength(6);
});

test('a discarded run is in no figure and is named with its reason', () => {
  const html = renderHtml(sampleResults());
  expect(html).toContain('Discarded runs: 1');
  expect(html).toContain(`peer-b, hot ticket, 128 connections, round 3: ${DISCARDED.reason}`);
  expect(html).toContain('679 (655–702)');
  expect(html).not.toContain('99,999');
});
