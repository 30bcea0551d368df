import { beforeEach, type RunnerTask } from 'vitest';
import { TESTS_NOT_ON_CITUS } from './not-on-citus.ts';

// Skips the listed tests and prints their reasons. Fails if a file has no test with a listed name, because
// the test was renamed.

beforeEach(({ task, skip }) => {
  const { name } = task.file;
  const reasons = TESTS_NOT_ON_CITUS[name.replace(/^test\/|\.test\.ts$/g, '')] ?? {};
  const renamed = Object.keys(reasons).filter((listed) => !has(task.file, listed));
  if (renamed.length > 0)
    throw new Error(`not-on-citus.ts names what ${name} has not: ${renamed.join(', ')}`);
  const reason = reasons[task.name];
  if (reason !== undefined) skip(reason);
});

const has = (task: RunnerTask, listed: string): boolean =>
  task.name === listed || ('tasks' in task && task.tasks.some((one) => has(one, listed)));
