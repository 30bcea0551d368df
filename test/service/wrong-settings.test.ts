import { expect, test } from 'vitest';
import { startProcess } from '../harness/service-process.ts';

const PASSWORD = 's3cret';
const unreadable = {
  DATABASE_URL: `postgres://user:${PASSWORD}@host:port/floodgate`,
  QUEUE_URL: `redis://user:${PASSWORD}@host:port`,
};

test.for([
  ['api', []],
  ['worker', []],
  ['cli', ['partner', 'list']],
  ['standalone', []],
] as const)(
  '%s names every URL that it cannot read, without the password, and exits 2',
  async ([app, args]) => {
    const process = startProcess(app, unreadable, args);
    expect(await process.exited, process.output()).toBe(2);
    expect(process.output()).toMatch(
      /^floodgate[a-z-]*: DATABASE_URL is not valid: .*; QUEUE_URL is not valid: .*\n$/,
    );
    expect(process.output()).not.toContain(PASSWORD);
  },
);
