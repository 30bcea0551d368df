import type { StringOptions } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { PERSON_EXAMPLES } from './people-examples.ts';
import { isEmailAddress, normalizePerson } from './people.ts';
import { RegistrationRequest } from './registration-request.ts';

const NORMALIZED = PERSON_EXAMPLES.filter(({ stored }) => stored !== undefined);

// test/registrations/people.test.ts walks over the examples wherever a person's data come in.

test.for(NORMALIZED)('a $field of $sent is stored as $stored', ({ field, sent, stored }) => {
  expect(normalizePerson({ [field]: sent })).toEqual({ [field]: stored });
});

test.for(NORMALIZED)('$field: what is stored is not changed again: $stored', ({ field, stored }) => {
  expect(normalizePerson({ [field]: stored })).toEqual({ [field]: stored });
});

test('other fields, and values that are no texts, are not touched', () => {
  const person = { fullName: 7, emailAddress: null, partnerReference: ' \u200f4711 ', other: ' x ' };
  expect(normalizePerson({ ...person })).toEqual(person);
  for (const value of [null, undefined, 7, ' text ', [], true]) expect(normalizePerson(value)).toBe(value);
});

/** A published pattern cannot list characters above U+FFFF, nor the marks of every script. Such names have nothing else. */
const BEYOND_PATTERNS = ['\u{E0041}\u{E0042}', '\u{1D173}', '\u05B8'];

test('the published patterns refuse what the service refuses, as it was sent', () => {
  const { properties } = RegistrationRequest;
  for (const { field, sent, stored } of PERSON_EXAMPLES) {
    if (stored !== undefined || BEYOND_PATTERNS.includes(sent)) continue;
    const { minLength = 0, maxLength, pattern, format }: StringOptions = properties[field];
    const { length } = Array.from(sent);
    const isPublished =
      length >= minLength &&
      length <= maxLength! &&
      (pattern === undefined || new RegExp(pattern, 'u').test(sent)) &&
      (format !== 'email' || isEmailAddress(sent));
    expect([field, sent, isPublished]).toEqual([field, sent, false]);
  }
});

test('hostile texts of any size are read in time that grows with their size', () => {
  for (const unit of [' ', '\u200b', '\u202a', '\ufe0f', 'a\ufe0f', 'ü.', '@ü', '\u0301']) {
    const text = unit.repeat(200_000);
    const person = { fullName: text, emailAddress: text, phoneNumber: text, extraData1: text };
    expect(normalizePerson(person)).toBe(person);
  }
});
