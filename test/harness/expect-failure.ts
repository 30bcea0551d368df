import { MAX_RETRY_AFTER_SECONDS, RESPONSE_CODES, type FailureCode } from '@floodgate/contract';
import { expect } from 'vitest';
import type { Answer } from './partner-client.ts';

// Compared as text: a strict client may require the order, and a parser would hide a repeated field.
const FAILURE = /^\{"responseCode":"[0-9]{2}","responseMessage":"(?:[^"\\]|\\.)+","responseData":null\}$/;

/** Expects the envelope of a call that is larger than the rate limit: it can never pass, so it has no Retry-After. */
export function expectTooLarge(answer: Answer): void {
  expect(answer.text).toMatch(FAILURE);
  expect({ code: answer.body.responseCode, status: answer.status }).toEqual({ code: '50', status: 429 });
  expect(answer.body.responseMessage).toMatch(/\. It can never pass: send smaller calls$/);
  expectRetryAfter(answer, undefined);
}

/** Expects the envelope of a failure with this code and status, and everything that the catalogue defines for the code. */
export function expectFailure(answer: Answer, code: FailureCode, status?: number): void {
  const { httpStatuses, retryAfterSeconds } = RESPONSE_CODES[code];
  expect(answer.text).toMatch(FAILURE);
  expect({ code: answer.body.responseCode, status: answer.status }).toEqual({
    code,
    status: status ?? httpStatuses[0],
  });
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expectRetryAfter(answer, retryAfterSeconds);
  expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/);
}

/** Expects random whole seconds within the bounds, or no header if the code has no Retry-After. */
export function expectRetryAfter(
  { headers }: Pick<Answer, 'headers'>,
  leastSeconds: number | undefined,
): void {
  const value = headers.get('retry-after');
  if (!leastSeconds) {
    expect(value).toBeNull();
    return;
  }
  expect(value).toMatch(/^[1-9]\d?$/);
  expect(Number(value)).toBeGreaterThanOrEqual(leastSeconds);
  expect(Number(value)).toBeLessThanOrEqual(MAX_RETRY_AFTER_SECONDS);
}
