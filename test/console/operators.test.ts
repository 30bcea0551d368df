import { perform } from '@floodgate/audit';
import { createOperatorAction, listOperators, updateOperatorAction, type Role } from '@floodgate/operators';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { addOperator } from '../harness/operators.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = databaseTest({ own: 'lists all operators' });

let count = 0;
const add = async (role: Role, email: string) => {
  const name = `${role} ${(count += 1)}`;
  await perform(given.db, createOperatorAction, { name, role, email }, 'test');
  return name;
};
const addOwner = async () => (await addOperator(given.db, 'owner')).name;
const update = (name: string, change: { role?: Role; disabled?: boolean; email?: string }) =>
  perform(given.db, updateOperatorAction, { name, ...change }, 'test');
const owners = async () =>
  (await listOperators(given.db)).filter(({ role, disabledAt }) => role === 'owner' && disabledAt === null)
    .length;

test('one owner stays, whoever is demoted or disabled at the same time', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [one, other] = [await addOwner(), await addOwner()];
    for (const { name, role } of await listOperators(given.db))
      if (role === 'owner' && name !== one && name !== other) await update(name, { role: 'viewer' });
    const ended = await Promise.allSettled([
      update(one, { role: 'viewer' }),
      update(other, { disabled: true }),
    ]);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await owners()).toBe(1);
  }
});

test('an address belongs to one operator, whatever its case, and its change is in the audit log', async () => {
  const ann = await add('viewer', 'Ann@operators.floodgate-tests.org');
  await expect(add('owner', 'ann@OPERATORS.floodgate-tests.org')).rejects.toThrow('already exists');
  await update(ann, { email: 'ann2@operators.floodgate-tests.org' });
  const { output } = await runCli({ DATABASE_URL: given.database.url }, 'audit', '--json', '--limit', '1');
  expect(output).toContain('"email": "ann2@operators.floodgate-tests.org"');
  expect(output).toContain('"email": "ann@operators.floodgate-tests.org"');
});
