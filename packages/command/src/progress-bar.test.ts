import { expect, test } from 'vitest';
import { createProgressBar } from './progress-bar.ts';

function shown(isTTY: boolean, use: (bar: ReturnType<typeof createProgressBar>) => void) {
  const texts: string[] = [];
  use(createProgressBar({ stderr: { isTTY, write: (text) => texts.push(text) } }));
  return texts.join('');
}

test('it is filled by the part that is done, and full if there is nothing to do', () => {
  expect(shown(true, (bar) => bar.show(1, 3, 'rows'))).toContain(
    `[${'#'.repeat(10)}${' '.repeat(20)}] 1 of 3 rows`,
  );
  expect(shown(true, (bar) => bar.show(0, 0, 'rows'))).toContain(`[${'#'.repeat(30)}] 0 of 0 rows`);
});

test('it writes nothing where nobody watches', () => {
  const text = shown(false, (bar) => {
    bar.show(1, 2, 'rows');
    bar.clear();
    bar.end();
  });
  expect(text).toBe('');
});
