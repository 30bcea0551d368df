import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { expect } from 'vitest';
import { databaseTest } from '../../../test/harness/database-test.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { waitUntil } from '../../../test/harness/wait-until.ts';
import { createLogger, describeError, throttledWarn } from './log.ts';

const { test, given } = databaseTest();

const DATA = 'Wilhelmina Featherstonehaugh';

/** Real errors of Postgres. Each quotes the data in its message, detail or context. */
const refusals = {
  'a value of the wrong type': () =>
    given.database.db
      .selectFrom('events')
      .selectAll()
      .where('id', '=', DATA as never)
      .execute(),
  'a duplicate': async () => {
    const values = { name: DATA };
    await given.database.db
      .insertInto('partners')
      .values(values)
      .onConflict((on) => on.doNothing())
      .execute();
    await given.database.db.insertInto('partners').values(values).execute();
  },
  'a failed check': () =>
    given.database.db.insertInto('events').values({ name: DATA, pass_prefix: 'no prefix' }).execute(),
};

async function refusal(statement: () => Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return statement().then(
    () => Promise.reject(new Error('Postgres refused nothing')),
    (error: unknown) => error as Error & Record<string, unknown>,
  );
}

test.for(Object.keys(refusals) as (keyof typeof refusals)[])(
  '%s: only SQLSTATE and constraint of the error are logged',
  async (kind) => {
    const error = await refusal(refusals[kind]);
    expect(JSON.stringify([error.message, error['detail']])).toContain(DATA);
    const description = describeError(error);
    expect(JSON.stringify(description)).not.toContain('Featherstonehaugh');
    expect(description).toMatchObject({
      code: error['code'],
      message: `Postgres refused the statement (SQLSTATE ${String(error['code'])})`,
    });
    expect(description.constraint).toBe(error['constraint']);
    expect(Object.keys(description)).not.toContain('detail');
  },
);

test('an error of Postgres quotes no data as a nested cause or in the stack', async () => {
  const error = await refusal(refusals['a value of the wrong type']);
  expect(error.stack).toContain(DATA);
  const outer = new Error('the batch failed', { cause: new Error('inner', { cause: error }) });
  const description = describeError(outer);
  expect(description).toMatchObject({
    message: 'the batch failed',
    cause: { message: 'inner', cause: { code: '22P02' } },
  });
  expect(JSON.stringify(description)).not.toContain('Featherstonehaugh');
});

test('an ordinary error keeps its message, code and frames', () => {
  const error = Object.assign(new TypeError('no such file'), { code: 'ENOENT', path: '/secret' });
  const description = describeError(error);
  expect(description).toMatchObject({ type: 'TypeError', message: 'no such file', code: 'ENOENT' });
  expect(description.stack).toMatch(/^\s+at /);
  expect(description.stack).not.toContain('no such file');
  expect(description).not.toHaveProperty('path');
});

test('input of a parser and passwords in URLs are not quoted', () => {
  const parse = () => JSON.parse(DATA);
  expect(parse).toThrow(DATA.slice(0, 5));
  let error: unknown;
  try {
    parse();
  } catch (thrown) {
    error = thrown;
  }
  expect(describeError(error)).toMatchObject({
    type: 'SyntaxError',
    message: 'something could not be parsed',
  });
  const unreachable = new Error('cannot reach redis://user:s3cret@host:6379');
  expect(describeError(unreachable).message).toBe('cannot reach redis://…@host:6379');
});

test.for([DATA, 7, null, undefined, { secret: DATA }])('only the type of a thrown %o is logged', (thrown) => {
  expect(describeError(thrown)).toEqual({ type: typeof thrown, message: 'not an Error' });
});

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  write(createLogger('test', 'trace', destination));
  return text;
}

test('a logged error is described, in every way to pass it', async () => {
  const error = await refusal(refusals['a value of the wrong type']);
  const text = logged((log) => {
    log.error({ err: error }, 'one');
    log.error({ error }, 'two');
    log.error(error, 'three');
    log.error({ err: error, requestId: 'r-1' }, 'four');
  });
  expect(text.match(/SQLSTATE 22P02/g)).toHaveLength(4);
  expect(text).toContain('"requestId":"r-1"');
  expect(text).not.toContain('Featherstonehaugh');
});

test('a call without a message does not compile: pino would use the message of the error', () => {
  const write = (log: ReturnType<typeof createLogger>) => {
    // @ts-expect-error no message
    log.error(new Error(DATA));
    // @ts-expect-error no message
    log.error({ err: new Error(DATA) });
  };
  expect(logged(write)).toContain(DATA);
});

test.for(['secretKey', 'password', 'headers', 'body'])('%s is not logged, even one level deep', (name) => {
  const text = logged((log) => {
    log.info({ [name]: DATA, nested: { [name]: { deep: DATA } } }, 'careless');
  });
  expect(text).toContain('"msg":"careless"');
  expect(text.match(/\[redacted\]/g)).toHaveLength(2);
  expect(text).not.toContain('Featherstonehaugh');
});

test('a repeated failure is logged with its stack once, and another failure with its own', () => {
  const refused = (port: number) =>
    Object.assign(new Error(`connect ECONNREFUSED 127.0.0.1:${port}`, { cause: new Error('a cause') }), {
      code: 'ECONNREFUSED',
    });
  const clock = new ManualClock();
  const text = logged((log) => {
    const warn = throttledWarn('a round failed', clock);
    for (const port of [1, 1, 1, 2]) {
      warn(log, { err: refused(port) });
      clock.block(1_000);
    }
    clock.block(60_000);
    warn(log, { err: refused(2) });
  });
  const errors = text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { err: ReturnType<typeof describeError> }).err);
  expect(errors.map(({ stack, cause }) => [Boolean(stack), Boolean(cause?.stack)])).toEqual([
    [true, true],
    [false, false],
    [false, false],
    [true, true],
    [true, true],
  ]);
  expect(errors.every(({ code, message }) => code === 'ECONNREFUSED' && message.length > 0)).toBe(true);
});

test('a line names its service, and lines below the level are not written', () => {
  expect(JSON.parse(logged((log) => log.info('hello')))).toMatchObject({
    service: 'test',
    msg: 'hello',
    level: 30,
  });
});

const LINES = 20_000;

/** A process that logs more than a pipe holds, reports that to its parent, and logs one more line after the parent's answer. */
function startLogging(stdout: 'pipe' | number): ChildProcess {
  const script = `
    import { createLogger } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)};
    const log = createLogger('test', 'info');
    for (let line = 0; line < ${LINES}; line++) log.info({ line, filling: 'x'.repeat(200) }, 'a line');
    process.on('message', () => { log.info('the last line'); process.disconnect(); });
    process.send('still here');`;
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  });
}

test('a pipe that nobody reads does not block the process, which later logs how many lines were dropped', async () => {
  const child = startLogging('pipe');
  expect(await once(child, 'message')).toMatchObject(['still here', undefined]);
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  await waitUntil('the number of dropped lines is logged', () => output.includes('log lines were dropped'));
  child.send('go on');
  expect(await once(child, 'close')).toEqual([0, null]);
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const { dropped } = lines.find(({ msg }) => String(msg).startsWith('log lines were dropped'))!;
  expect(lines.filter(({ msg }) => msg === 'a line')).toHaveLength(LINES - Number(dropped));
  expect(lines.at(-1)).toMatchObject({ msg: 'the last line' });
});

test('a closed pipe does not end the process', async () => {
  const child = startLogging('pipe');
  child.stdout!.destroy();
  expect(await once(child, 'message')).toMatchObject(['still here', undefined]);
  child.send('go on');
  expect(await once(child, 'close')).toEqual([0, null]);
});

test.skipIf(!existsSync('/dev/full'))('a full disk does not end the process', async () => {
  const child = startLogging(openSync('/dev/full', 'w'));
  expect(await once(child, 'message')).toMatchObject(['still here', undefined]);
  child.send('go on');
  expect(await once(child, 'close')).toEqual([0, null]);
});
