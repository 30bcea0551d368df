import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { wrongFields } from './load-config.ts';

test('the maximum length of a text is in characters, not in UTF-16 units', () => {
  const schema = Type.Object({ note: Type.String({ maxLength: 2, description: 'at most 2 characters' }) });
  expect(wrongFields(schema, { note: '😀😀' })).toEqual({});
  expect(wrongFields(schema, { note: '😀😀😀' })).toEqual({ note: 'at most 2 characters' });
});
