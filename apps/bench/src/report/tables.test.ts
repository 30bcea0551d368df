import { expect, test } from 'vitest';
import { median } from './statistics.ts';
import { renderMarkdown } from './markdown.ts';
import { renderPage } from './page.ts';
import { atLeast, atMost, Results } from './results.ts';

const RATES = [9_800, 10_300, 10_010];

function sampleResults(): Results {
  const results = new Results();
  results.notes.set('hot ticket', 'One ticket.');
  for (const rate of RATES)
    results.add('hot ticket', 'floodgate', { 'per second': rate, 'p50 ms': 12.13 }, { 'p50 ms': atMost(3) });
  results.add('hot ticket', 'naive', { 'per second': 478, '÷': undefined, 'CPU µs': Number.NaN });
  results.add('Soak', 'ten minutes', { 'API MiB': 120 }, { 'API MiB': atMost(300) });
  results.add('Soak', 'ten minutes', { 'per second': 20_000 }, { 'per second': atLeast(19_000) });
  results.discard('naive, round 2', '3 registrations lost');
  return results;
}

/** Returns the cells of the first line that begins with this one. */
function cells(markdown: string, first: string): string[] | undefined {
  const lines = markdown.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  return lines.find(([cell]) => cell === first);
}

test('a row holds the median and the range over its rounds, and nothing where nothing was measured', () => {
  const markdown = renderMarkdown(sampleResults(), 'npm run bench');
  expect(cells(markdown, '')).toEqual(['', 'per second', 'p50 ms']);
  expect(cells(markdown, 'floodgate')).toEqual(['floodgate', '10,010 (9,800–10,300)', '12.1']);
  expect(cells(markdown, 'naive')).toEqual(['naive', '478', '–']);
});

test('a table with a single row is turned', () => {
  expect(cells(renderMarkdown(sampleResults(), ''), 'API MiB')).toEqual(['API MiB', '120']);
});

test('targets say what was wanted, what was measured and whether it was met', () => {
  const markdown = renderMarkdown(sampleResults(), '');
  expect(cells(markdown, 'hot ticket, floodgate: p50 ms')?.slice(1)).toEqual(['≤ 3', '12.1', 'no']);
  expect(cells(markdown, 'Soak, ten minutes: per second')?.slice(1)).toEqual(['≥ 19,000', '20,000', 'yes']);
});

test('what was discarded is named with its reason', () => {
  expect(renderMarkdown(sampleResults(), '')).toContain('- naive, round 2: 3 registrations lost');
  expect(renderPage(sampleResults(), '')).toContain('naive, round 2: 3 registrations lost');
});

test('every line of a table is equally long, so that it reads well unrendered', () => {
  for (const block of renderMarkdown(sampleResults(), '').split('\n\n')) {
    if (!block.startsWith('|')) continue;
    expect(new Set(block.split('\n').map((line) => line.length)).size).toBe(1);
  }
});

test('a name can neither break a table nor command the terminal', () => {
  const results = new Results();
  for (const row of ['a|b\n\u001b[31mc', 'other']) results.add('table', row, { one: 1, two: 2 });
  expect(renderMarkdown(results, '')).toContain(String.raw`| a\|b [31mc |`);
});

test('the page loads nothing, runs nothing, and escapes every text', () => {
  const spoiled = '<script>alert("injected")</script>';
  const results = new Results();
  for (const row of [spoiled, 'other']) results.add(spoiled, row, { [spoiled]: 1 }, { [spoiled]: atMost(0) });
  results.notes.set(spoiled, spoiled);
  results.discard(spoiled, spoiled);
  const page = renderPage(results, spoiled);
  expect(page).not.toMatch(/<script|"injected"|https?:|\ssrc=|@import|url\(/i);
});

test('the page has a plot of the first column of each table with several rows', () => {
  const page = renderPage(sampleResults(), '');
  expect(page.match(/<svg/g)).toHaveLength(1);
  expect(page.match(/<rect/g)).toHaveLength(2);
  expect(page).toContain('aria-label="hot ticket: per second"');
});

test('the median of an even number of values is the mean of the two in the middle', () => {
  expect(median([4, 100, 3, 2])).toBe(3.5);
  expect(() => median([])).toThrow(RangeError);
});
