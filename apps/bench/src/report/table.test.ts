import { expect, test } from 'vitest';
import { DISCARDED, sampleResults } from './sample-results.test-support.ts';
import { renderTable } from './table.ts';

/** Returns the cells of the first line that begins with these. */
function cells(table: string, ...first: string[]): string[] {
  const lines = table.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  return lines.find((line) => first.every((cell, index) => line[index] === cell)) ?? [];
}

test('a row holds the median and the range over its runs', () => {
  expect(cells(renderTable(sampleResults()), 'floodgate', '128').slice(2)).toEqual([
    '5',
    '10,010 (9,800–10,300)',
    '–',
    '12.1',
    '38.7',
    '72.6',
  ]);
});

test('a contender that registers nothing is rated by what it answered, and says so', () => {
  const row = cells(renderTable(sampleResults()), 'empty-route', '512');
  expect(row).toContain('22,338 (21,522–22,746) answered');
  expect(row).toContain('0.58× (0.56–0.63)');
});

test('a discarded run moves no median and is named with its reason', () => {
  const table = renderTable(sampleResults());
  expect(cells(table, 'peer-b', '128')).toContain('679 (655–702)');
  expect(cells(table, 'peer-b', '128')).toContain('2 of 3');
  expect(table).not.toContain('99,999');
  expect(table).toContain('Discarded runs, which no figure contains: 1');
  expect(table).toContain(`- peer-b, hot ticket, 128 connections, round 3: ${DISCARDED.reason}`);
});

test('a contender of which every run was discarded keeps its row', () => {
  const results = sampleResults();
  results.runs = results.runs.map((run) =>
    run.contender === 'peer-a' ? { ...run, discarded: 'oversold' } : run,
  );
  expect(cells(renderTable(results), 'peer-a', '128').slice(2, 4)).toEqual(['0 of 5', '–']);
});

test('columns without a value are left out, per workload', () => {
  const lowLoad = renderTable(sampleResults()).split('### 50/s')[1]!.split('\n### ')[0]!;
  for (const title of ['connections', 'Floodgate ÷ contender', 'not accepted', 'µs', 'MiB']) {
    expect(lowLoad).not.toContain(title);
  }
  expect(lowLoad).toContain('p50 ms');
});

test('every line of a table is equally long, so that it reads well unrendered', () => {
  for (const block of renderTable(sampleResults()).split('\n\n')) {
    if (!block.startsWith('|')) continue;
    expect(
      new Set(
        block
          .trimEnd()
          .split('\n')
          .map((line) => line.length),
      ).size,
    ).toBe(1);
  }
});

test('targets say what was wanted, what was measured and whether it was met', () => {
  const table = renderTable(sampleResults());
  expect(cells(table, 'API and worker, resident memory')).toContain('276 MiB');
  expect(cells(table, 'Floodgate ÷ empty route')).toEqual([
    'Floodgate ÷ empty route',
    '≥ 0.5 ×',
    '0.38 ×',
    'no',
  ]);
});

test('a name can neither break a table nor command the terminal', () => {
  const results = sampleResults();
  results.runs = results.runs.map((run) => ({ ...run, contender: 'a|b\n\u001b[31mc' }));
  results.contenders = [{ name: 'a|b\n\u001b[31mc', description: '' }];
  expect(renderTable(results)).toContain(String.raw`| a\|b [31mc |`);
});

test('results without runs and targets still say where they come from', () => {
  const { soak: _, ...results } = sampleResults();
  const table = renderTable({ ...results, runs: [], comparisons: [], targets: [] });
  expect(table).toContain('npm run bench');
  expect(table).not.toContain('###');
});
