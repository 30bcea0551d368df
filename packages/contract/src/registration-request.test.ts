import { expect, test } from 'vitest';
import { fieldRule, isEmailAddress, RegistrationRequest, trimFullName } from './registration-request.ts';

// What a registration's fields may hold is tested through the API: test/integration/field-rules.test.ts.

test.for(['a@b.c', 'jane.doe@example.com', 'JANE+tag@mail.example.co.uk', "o'neil@example.com", '0@0.0'])(
  '%s is an e-mail address',
  (text) => {
    expect(isEmailAddress(text)).toBe(true);
  },
);

test.for([
  '',
  'jane',
  'jane@example',
  '@example.com',
  'jane@',
  'jane@@example.com',
  'jane@-example.com',
  'jane@example-.com',
  'jane@example..com',
  '.jane@example.com',
  'jane.@example.com',
  'ja..ne@example.com',
  'jane@example.com\n',
  ' jane@example.com',
  'jané@example.com',
  `${'l'.repeat(65)}@example.com`,
  `jane@${'d'.repeat(64)}.com`,
])('%o is no e-mail address', (text) => {
  expect(isEmailAddress(text)).toBe(false);
});

test('254 characters are the most, and hostile input of any size is answered at once', () => {
  const labels = (last: number) => [62, 61, last].map((length) => 'd'.repeat(length)).join('.');
  const longest = `${'l'.repeat(64)}@${labels(61)}.io`;
  expect([longest.length, isEmailAddress(longest)]).toEqual([254, true]);
  expect(isEmailAddress(`${'l'.repeat(64)}@${labels(62)}.io`)).toBe(false);
  const startedAt = performance.now();
  expect(isEmailAddress(`${'a.'.repeat(500_000)}@`)).toBe(false);
  expect(isEmailAddress(`a@${'a-'.repeat(126)}`)).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(50);
});

test.for([
  [{ fullName: '  Jane Doe\t' }, { fullName: 'Jane Doe' }],
  [{ fullName: '\u00a0 ' }, { fullName: '' }],
  [
    { fullName: 'Jane  Doe', gender: ' x ' },
    { fullName: 'Jane  Doe', gender: ' x ' },
  ],
  [{ fullName: 7 }, { fullName: 7 }],
  [{ fullName: null }, { fullName: null }],
  [{}, {}],
  [[], []],
  [null, null],
  [undefined, undefined],
  ['  text ', '  text '],
  [7, 7],
])('trimming %o gives %o', ([body, trimmed]) => {
  trimFullName(body);
  expect(body).toEqual(trimmed);
});

test('every field has a rule that a caller can read', () => {
  for (const field of Object.keys(RegistrationRequest.properties)) {
    expect(fieldRule(field)).toMatch(new RegExp(`^${field}: (required|optional)[, ]`));
  }
});

test('a rule says required where the field is, and optional where it is not', () => {
  const saysRequired = Object.keys(RegistrationRequest.properties).filter((field) =>
    fieldRule(field).startsWith(`${field}: required`),
  );
  expect(saysRequired).toEqual(RegistrationRequest.required);
});

test.for(['nonsense', '__proto__', 'constructor', ''])(
  'the rule of %o, which is no field, is plain',
  (field) => {
    expect(fieldRule(field)).toBe(`${field}: not valid`);
  },
);
