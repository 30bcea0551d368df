import { Value } from '@sinclair/typebox/value';
import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { failure, FailureEnvelope, success, SuccessEnvelope } from './envelope.ts';
import { formatTimestamp, isUuid } from './formats.ts';
import { RegisterHeaders } from './headers.ts';
import { RESPONSE_CODES, type FailureCode, type ResponseCode } from './response-codes.ts';

interface Promised {
  http: number[];
  retry: boolean;
  retryAfter: boolean;
  message: string;
}

// The published table: code, HTTP statuses, whether a retry can help, whether there is a Retry-After, and the
// default message.
const PROMISED: Record<ResponseCode, Promised> = {
  '00': { http: [200], retry: false, retryAfter: false, message: 'Successful' },
  '10': {
    http: [400, 413, 415, 431],
    retry: false,
    retryAfter: false,
    message: 'The request is not well-formed',
  },
  '11': { http: [422], retry: false, retryAfter: false, message: 'The request has invalid fields' },
  '12': { http: [400], retry: false, retryAfter: false, message: 'x-event-ref is missing or not a UUID' },
  '20': { http: [401], retry: false, retryAfter: false, message: 'x-secret-key is not valid' },
  '21': { http: [404], retry: false, retryAfter: false, message: 'No such event' },
  '30': { http: [404], retry: false, retryAfter: false, message: 'No such ticket under this event' },
  '31': { http: [409], retry: false, retryAfter: false, message: 'The ticket is not on sale' },
  '32': { http: [409], retry: false, retryAfter: false, message: 'The ticket is sold out' },
  '33': {
    http: [409],
    retry: false,
    retryAfter: false,
    message: 'This e-mail address is already registered for the event',
  },
  '34': { http: [404], retry: false, retryAfter: false, message: 'No such registration' },
  '35': {
    http: [409],
    retry: false,
    retryAfter: false,
    message: "The registration's state does not allow this",
  },
  '36': {
    http: [409],
    retry: false,
    retryAfter: false,
    message: 'Not registered: another registration of the call was refused',
  },
  '37': {
    http: [409],
    retry: false,
    retryAfter: false,
    message: 'You already hold your maximum number of seats of this ticket',
  },
  '38': { http: [409], retry: false, retryAfter: false, message: 'The ticket is not sold out' },
  '39': { http: [409], retry: false, retryAfter: false, message: 'The ticket has no open waiting list' },
  '40': {
    http: [422],
    retry: false,
    retryAfter: false,
    message: 'The Idempotency-Key was used with a different request',
  },
  '41': {
    http: [409],
    retry: true,
    retryAfter: true,
    message: 'A request with this Idempotency-Key is in progress',
  },
  '50': { http: [429], retry: true, retryAfter: true, message: 'Too many requests' },
  '60': { http: [404, 405], retry: false, retryAfter: false, message: 'No such route' },
  '70': { http: [404], retry: false, retryAfter: false, message: 'No such webhook' },
  '71': {
    http: [409],
    retry: false,
    retryAfter: false,
    message: 'You have ten webhooks under this event, which is the maximum',
  },
  '72': { http: [409], retry: false, retryAfter: false, message: 'The operator has paused this webhook' },
  '90': {
    http: [503],
    retry: true,
    retryAfter: true,
    message: 'The service is overloaded; nothing was reserved',
  },
  '91': {
    http: [503],
    retry: true,
    retryAfter: true,
    message: 'The outcome is unknown; retry with the same Idempotency-Key',
  },
  '99': { http: [500], retry: true, retryAfter: false, message: 'Unexpected error' },
};

const codes = Object.keys(RESPONSE_CODES) as ResponseCode[];
const failures = codes.filter((code): code is FailureCode => code !== '00');

test('the catalogue is what partners were promised', () => {
  const catalogue = codes.map((code) => {
    const { httpStatuses, retryAfterSeconds, message } = RESPONSE_CODES[code];
    const [retry, retryAfter] = [retryAfterSeconds !== undefined, Boolean(retryAfterSeconds)];
    return [code, { http: [...httpStatuses], retry, retryAfter, message }];
  });
  expect(Object.fromEntries(catalogue)).toEqual(PROMISED);
});

test('every code has a message of one line and a meaning, and no two codes share either', () => {
  for (const part of ['message', 'meaning'] as const) {
    const texts = codes.map((code) => RESPONSE_CODES[code][part]);
    expect(texts.every((text) => /^[^\n]{5,}$/.test(text))).toBe(true);
    expect(new Set(texts).size).toBe(codes.length);
  }
});

test('a failure has exactly three fields, in order, and null data', () => {
  for (const code of failures) {
    expect(JSON.stringify(failure(code))).toBe(
      `{"responseCode":"${code}","responseMessage":${JSON.stringify(RESPONSE_CODES[code].message)},"responseData":null}`,
    );
    expect(Value.Check(FailureEnvelope, failure(code, 'more to say'))).toBe(true);
  }
  expect(failure('11', 'gender: no').responseMessage).toBe('gender: no');
});

test('a success has exactly three fields, in order', () => {
  expect(JSON.stringify(success('GALA-1'))).toBe(
    '{"responseCode":"00","responseMessage":"Successful","responseData":"GALA-1"}',
  );
  const schema = SuccessEnvelope(Type.String());
  expect(Value.Check(schema, success('GALA-1'))).toBe(true);
  expect(Value.Check(schema, { ...success('GALA-1'), extra: 1 })).toBe(false);
  expect(Value.Check(schema, failure('99'))).toBe(false);
  expect(Value.Check(FailureEnvelope, { ...failure('99'), extra: 1 })).toBe(false);
});

test('a timestamp has fractional seconds and an explicit offset', () => {
  expect(formatTimestamp(new Date('2026-11-21T09:00:00.123Z'))).toBe('2026-11-21T09:00:00.123+00:00');
  expect(formatTimestamp(new Date('2026-11-21T09:00:00Z'))).toBe('2026-11-21T09:00:00.000+00:00');
});

test('a UUID may be written in either case', () => {
  const uuid = '6f1c2a34-9b1d-4c55-8e21-0a1b2c3d4e5f';
  for (const good of [uuid, uuid.toUpperCase()]) expect(isUuid(good)).toBe(true);
  for (const bad of [
    '',
    `${uuid}0`,
    ` ${uuid}`,
    `${uuid}\n`,
    `{${uuid}}`,
    uuid.replaceAll('-', ''),
    undefined,
    [uuid],
  ]) {
    expect(isUuid(bad)).toBe(false);
  }
});

const isIdempotencyKey = (value: unknown) =>
  Value.Check(RegisterHeaders.properties['idempotency-key'], value);

test('an idempotency key is 1 to 255 visible ASCII characters', () => {
  for (const good of ['a', '!~', 'order:42/ü'.slice(0, 9), 'k'.repeat(255)])
    expect(isIdempotencyKey(good)).toBe(true);
  for (const bad of ['', ' ', 'a b', 'a\t', 'a\n', 'ü', '\u007f', 'k'.repeat(256), undefined, 7, ['a']]) {
    expect(isIdempotencyKey(bad)).toBe(false);
  }
});
