import { Command, Option } from '@commander-js/extra-typings';
import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { inputOf } from './actions.ts';
import { parseWhole } from './arguments.ts';

const INPUT = Type.Object({
  ticketId: Type.Integer(),
  saleEndsAt: Type.Union([Type.String(), Type.Null()]),
  benefits: Type.String(),
  active: Type.Boolean(),
  lastModifiedBy: Type.String(),
  duplicatePolicy: Type.String(),
});

function inputFrom(...args: string[]) {
  const command = new Command()
    .argument('<ticketId>', '', parseWhole)
    .argument('[batchIds...]')
    .option('--sale-ends <time>')
    .option('--benefits <text>')
    .option('--by <who>')
    .option('--duplicates <policy>')
    .addOption(new Option('--inactive').implies({ active: false }))
    .parse(args, { from: 'user' });
  const withBatches = Type.Object({ ...INPUT.properties, batchIds: Type.Array(Type.String()) });
  return inputOf(command, withBatches, { duplicatePolicy: 'duplicates' });
}

test('a field comes from the argument or option with its name or a part of it, and none from --by', () => {
  expect(inputFrom('7', 'one', 'two', '--by', 'Ann', '--sale-ends', 'soon', '--duplicates', 'allow')).toEqual(
    {
      ticketId: 7,
      batchIds: ['one', 'two'],
      saleEndsAt: 'soon',
      duplicatePolicy: 'allow',
    },
  );
});

test('a field without a value is absent, and an empty text is a value', () => {
  expect(inputFrom('7', '--benefits', '')).toEqual({ ticketId: 7, benefits: '' });
});

test('"none" is null if null is allowed', () => {
  expect(inputFrom('7', '--sale-ends', 'none', '--benefits', 'none')).toEqual({
    ticketId: 7,
    saleEndsAt: null,
    benefits: 'none',
  });
});

test('an option may imply the value of a field', () => {
  expect(inputFrom('7', '--inactive')).toEqual({ ticketId: 7, active: false });
});
