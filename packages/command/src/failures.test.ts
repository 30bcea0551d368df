import { describe, expect, test } from 'vitest';
import { ConnectionFailed, ConnectionLost } from '@floodgate/database';
import { Failure, reasonOf } from '@floodgate/service';
import { endingOf } from './failures.ts';

const failing = (properties: object, message = 'quotes "Jane"') =>
  Object.assign(new Error(message), properties);
const lineOf = (error: unknown) => endingOf(error).line;

describe('a refusal by Postgres', () => {
  test('is explained by its SQLSTATE', () => {
    expect(lineOf(failing({ code: '42P01' }))).toMatch('run floodgate migrate');
  });

  test('with an unknown SQLSTATE is reported without the data that it quotes', () => {
    const line = lineOf(failing({ code: '23514', constraint: 'some_check' }));
    expect(line).toBe('Postgres refused the statement (SQLSTATE 23514, some_check)');
  });
});

describe('a connection', () => {
  test('that failed is reported with its reason', () => {
    const error = new ConnectionFailed(failing({ code: 'ECONNREFUSED' }));
    expect(endingOf(error)).toEqual({
      line: 'cannot connect to Postgres (DATABASE_URL): connection refused',
      exitCode: 1,
    });
  });

  test('that was lost leaves the outcome open', () => {
    expect(lineOf(new ConnectionLost(new Error('gone')))).toMatch('unknown');
  });

  test('failure never shows a password', () => {
    expect(reasonOf(new Error('bad URL redis://user:s3c@ret@host:1/'))).toBe('bad URL redis://…@host:1/');
  });
});

test('a message of several lines is printed as one', () => {
  expect(endingOf(new Failure('one\n  two\u0007'))).toEqual({ line: 'one two', exitCode: 1 });
  expect(endingOf(null)).toEqual({ line: 'unexpected error: unknown reason', exitCode: 1 });
});
