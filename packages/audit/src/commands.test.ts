import { Command, Option } from '@commander-js/extra-typings';
import { parseWhole } from '@floodgate/command/arguments';
import { InvalidInput } from '@floodgate/service/failure';
import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { withInput } from './commands.ts';

const INPUT = Type.Object({
  ticketId: Type.Integer(),
  batchIds: Type.Array(Type.String()),
  saleEndsAt: Type.Union([Type.String(), Type.Null()], { option: '--sale-ends' }),
  benefits: Type.String(),
  active: Type.Boolean(),
  lastModifiedBy: Type.String(),
  duplicatePolicy: Type.String({ option: '--duplicates' }),
  contactEmail: Type.Optional(Type.String({ option: '<contact>' })),
});

const commandOf = (...args: string[]) =>
  new Command()
    .argument('<ticketId>', '', parseWhole)
    .argument('[batchIds...]')
    .option('--sale-ends <time>')
    .option('--benefits <text>')
    .option('--by <who>')
    .option('--duplicates <policy>')
    .addOption(new Option('--inactive').implies({ active: false }))
    .parse(args, { from: 'user' });

const inputFrom = (...args: string[]) => withInput(commandOf(...args), INPUT, async (given) => given);

test('a field comes from the option that its schema names, or from the argument or option with its name', async () => {
  const line = ['7', 'one', 'two', '--by', 'Ann', '--sale-ends', 'soon', '--duplicates', 'allow'];
  expect(await inputFrom(...line)).toEqual({
    ticketId: 7,
    batchIds: ['one', 'two'],
    saleEndsAt: 'soon',
    duplicatePolicy: 'allow',
  });
});

test('an option whose name is a part of the name of a field is not its value', async () => {
  const { lastModifiedBy, benefits } = await inputFrom('7', '--by', 'Ann');
  expect({ lastModifiedBy, benefits }).toEqual({});
  const command = new Command().option('--sale <time>').parse(['--sale', 'soon'], { from: 'user' });
  expect(await withInput(command, INPUT, async (given) => given)).toEqual({});
});

test('an argument can have another name than its field', async () => {
  const command = new Command().argument('<contact>').parse(['ann@example.com'], { from: 'user' });
  expect(await withInput(command, INPUT, async (given) => given)).toEqual({
    contactEmail: 'ann@example.com',
  });
});

test('a field without a value is absent, and an empty text is a value', async () => {
  expect(await inputFrom('7', '--benefits', '')).toEqual({ ticketId: 7, benefits: '' });
});

test('"none" is null if null is allowed', async () => {
  expect(await inputFrom('7', '--sale-ends', 'none', '--benefits', 'none')).toEqual({
    ticketId: 7,
    saleEndsAt: null,
    benefits: 'none',
  });
});

test('an option may imply the value of a field', async () => {
  expect(await inputFrom('7', '--inactive')).toEqual({ ticketId: 7, active: false });
});

test('invalid fields are named as the operator types them', async () => {
  const rules = { ticketId: 'a', saleEndsAt: 'b', benefits: 'c', lastModifiedBy: 'd', by: 'e', '': 'f' };
  const refused = withInput(commandOf('7'), INPUT, () => Promise.reject(new InvalidInput(rules)));
  await expect(refused).rejects.toMatchObject({
    rules: {
      '<ticketId>': 'a',
      '--sale-ends': 'b',
      '--benefits': 'c',
      lastModifiedBy: 'd',
      '--by': 'e',
      '': 'f',
    },
  });
});
