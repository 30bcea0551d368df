import { expect, test } from 'vitest';
import { startProcess } from '../harness/service-process.ts';

const PASSWORD = 's3cret';
// Port 1 is nobody's.
const NOWHERE = 'postgres://user@127.0.0.1:1/floodgate';
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

test('a mistyped name is a warning that names the likely setting, and no value', async () => {
  const process = startProcess('api', { DATABASE_URL: NOWHERE, QUEUE_URL: NOWHERE, QUEUE_ADDRESS: PASSWORD });
  expect(await process.exited, process.output()).toBe(1);
  expect(process.output()).toMatch(
    /"level":40,.*"setting":"QUEUE_ADDRESS","likely":\["QUEUE_URL","QUEUE_NAMESPACE"\],"msg":"unknown setting/,
  );
  expect(process.output()).not.toContain(PASSWORD);
});
