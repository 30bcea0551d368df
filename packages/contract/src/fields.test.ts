import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { fieldRule } from './fields.ts';
import { RegistrationRequest } from './registration-request.ts';

const ruleOf = (field: string) => fieldRule(RegistrationRequest, `/${field}`);

test('every field of a registration has a rule that a caller can read', () => {
  for (const field of Object.keys(RegistrationRequest.properties)) {
    expect(ruleOf(field)).toMatch(new RegExp(`^${field}: (required|optional)[, ]`));
  }
});

test('the rule of a field says required if the field is required, else optional', () => {
  const saysRequired = Object.keys(RegistrationRequest.properties).filter((field) =>
    ruleOf(field).startsWith(`${field}: required`),
  );
  expect(saysRequired).toEqual(RegistrationRequest.required);
});

test.for(['nonsense', '__proto__', 'constructor', ''])(
  'the rule of %o, which is not a field, is "not valid"',
  (field) => {
    expect(ruleOf(field)).toBe(`${field}: not valid`);
  },
);

test('a field inside lists and objects is named by its whole path', () => {
  const body = Type.Object({
    registrations: Type.Array(RegistrationRequest, { description: 'Required, 1 to 1,000 registrations' }),
    venue: Type.Object({ doors: Type.Array(Type.Array(Type.String({ description: 'A name' }))) }),
  });
  expect(fieldRule(body, '/registrations')).toBe('registrations: required, 1 to 1,000 registrations');
  expect(fieldRule(body, '/registrations/3/gender')).toBe(`registrations[3].${ruleOf('gender')}`);
  expect(fieldRule(body, '/registrations/0')).toMatch(/^registrations\[0\]: the attendee and the ticket/);
  expect(fieldRule(body, '/venue/doors/1/0')).toBe('venue.doors[1][0]: a name');
  expect(fieldRule(body, '/venue/nothing/0')).toBe('venue.nothing.0: not valid');
});
