import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

const figure = (samples: (facts: { seats: number }) => [{ ticket: string }, number][]) => ({
  help: 'A figure',
  labels: ['ticket'],
  samples,
});

test('the figures of a scrape share one read, and the next scrape reads again', async () => {
  const metrics = new Metrics('test');
  let reads = 0;
  const read = () => Promise.resolve({ seats: (reads += 1) });
  metrics.figures(read, {
    left: figure(({ seats }) => [[{ ticket: 'a' }, seats]]),
    doubled: figure(({ seats }) => [[{ ticket: 'a' }, 2 * seats]]),
  });
  expect(await metrics.text()).toContain('floodgate_test_left{ticket="a"} 1\n');
  const second = await metrics.text();
  expect(second).toContain('floodgate_test_left{ticket="a"} 2\n');
  expect(second).toContain('floodgate_test_doubled{ticket="a"} 4\n');
  expect(reads).toBe(2);
});

test('what is not read any more is not told, and a read that fails leaves its figures out', async () => {
  const metrics = new Metrics('test');
  const reads = [
    () => Promise.resolve({ seats: 1 }),
    () => Promise.resolve({ seats: 0 }),
    () => Promise.reject(new Error('away')),
  ];
  metrics.figures(() => reads.shift()!(), {
    left: figure(({ seats }) => (seats > 0 ? [[{ ticket: 'a' }, seats]] : [[{ ticket: 'b' }, seats]])),
  });
  const told = [await metrics.text(), await metrics.text(), await metrics.text()];
  const samples = told.map((text) =>
    text.split('\n').filter((line) => line.startsWith('floodgate_test_left')),
  );
  expect(samples).toEqual([['floodgate_test_left{ticket="a"} 1'], ['floodgate_test_left{ticket="b"} 0'], []]);
  expect(told[2]).toMatch(/^floodgate_test_process_cpu_seconds_total \d/m);
});

test('a figure without labels that cannot be read is left out, not 0', async () => {
  const metrics = new Metrics('test');
  const reads = [() => Promise.resolve(1), () => Promise.reject(new Error('away')), () => Promise.resolve(0)];
  metrics.figures(() => reads.shift()!(), {
    alone: { help: 'Alone', labels: [], samples: (value) => [[{}, value]] },
  });
  const told = [await metrics.text(), await metrics.text(), await metrics.text()];
  const samples = told.map((text) =>
    text.split('\n').filter((line) => line.startsWith('floodgate_test_alone')),
  );
  expect(samples).toEqual([['floodgate_test_alone 1'], [], ['floodgate_test_alone 0']]);
});

test('the text is OpenMetrics', async () => {
  const metrics = new Metrics('test');
  metrics.counter('calls', 'Calls', ['code']).inc({ code: '00' });
  metrics.histogram('took_seconds', 'Time', [1, 2]).observe(1.5);
  const text = await metrics.text();
  expect(metrics.contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  expect(text).toContain('# TYPE floodgate_test_calls counter\nfloodgate_test_calls_total{code="00"} 1\n');
  expect(text).toContain('floodgate_test_took_seconds_bucket{le="2"} 1\n');
  expect(text).toMatch(/# EOF\n$/);
});
