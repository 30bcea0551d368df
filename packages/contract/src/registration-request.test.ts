import { expect, test } from 'vitest';
import { isEmailAddress } from './people.ts';
import { BODY_LIMIT_BYTES, RegistrationRequest } from './registration-request.ts';

// test/registrations/field-rules.test.ts tests the valid values of the fields through the API.

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
])('%o is not an e-mail address', (text) => {
  expect(isEmailAddress(text)).toBe(false);
});

test('an address has at most 254 characters, and hostile input of any size is rejected', () => {
  const labels = (last: number) => [62, 61, last].map((length) => 'd'.repeat(length)).join('.');
  const longest = `${'l'.repeat(64)}@${labels(61)}.io`;
  expect([longest.length, isEmailAddress(longest)]).toEqual([254, true]);
  expect(isEmailAddress(`${'l'.repeat(64)}@${labels(62)}.io`)).toBe(false);
  expect(isEmailAddress(`${'a.'.repeat(500_000)}@`)).toBe(false);
  expect(isEmailAddress(`a@${'a-'.repeat(126)}`)).toBe(false);
});

const REQUIRED_ASCII = /only ASCII before the @ and a dot in the domain/;

test('the rule of an e-mail address states the requirements of a domain', () => {
  expect(RegistrationRequest.properties.emailAddress.description).toMatch(REQUIRED_ASCII);
  for (const text of ['a@localhost', 'jürgen@münchen.de']) expect(isEmailAddress(text)).toBe(false);
  expect(isEmailAddress('juergen@xn--mnchen-3ya.de')).toBe(true);
});

test('the longest valid body fits in its longest spelling, with 4 KB left for ignored fields', () => {
  const body = {
    fullName: '😀'.repeat(255),
    emailAddress: `${'l'.repeat(64)}@${[62, 61, 61].map((length) => 'd'.repeat(length)).join('.')}.io`,
    phoneNumber: '😀'.repeat(32),
    gender: '😀'.repeat(32),
    tableOrSeat: '😀'.repeat(64),
    organizedEventTicketID: 2_147_483_647,
    extraData1: '😀'.repeat(1_000),
    extraData2: '😀'.repeat(1_000),
    partnerReference: '😀'.repeat(64),
  };
  expect(Object.keys(body)).toEqual(Object.keys(RegistrationRequest.properties));
  const escaped = JSON.stringify(body, null, 2).replaceAll(
    /[^\s{}":,]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  expect(BODY_LIMIT_BYTES - escaped.length).toBeGreaterThan(4_000);
  expect(BODY_LIMIT_BYTES).toBe(36 * 1024);
});
