import { perform } from '@floodgate/audit';
import {
  createOperatorAction,
  grantOperatorAction,
  listOperators,
  updateOperatorAction,
  type Role,
} from '@floodgate/operators';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
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
const update = (name: string, change: { role?: Role | null; disabled?: boolean; email?: string }) =>
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

test('the last owner of all events stays, whatever roles others have for events', async () => {
  const { eventId } = await createFixture(given.db);
  const last = await addOwner();
  for (const { name, role } of await listOperators(given.db))
    if (role === 'owner' && name !== last) await update(name, { role: null });
  const other = await add('viewer', 'owner-of-one@operators.floodgate-tests.org');
  await perform(given.db, grantOperatorAction, { name: other, eventId, role: 'owner' }, 'test');
  for (const change of [{ role: null }, { role: 'door-manager' as const }, { disabled: true }])
    await expect(update(last, change)).rejects.toThrow('this is the last owner');
  expect(await owners()).toBe(1);
});

test('the command gives, shows and takes roles of events, and limits tokens', async () => {
  const { eventId } = await createFixture(given.db);
  const { eventId: second } = await createFixture(given.db);
  const run = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, ...args);
  const created = await run('operator', 'create', 'dora', '--role', 'none');
  expect(created.code).toBe(0);
  const grant = (event: number, role: string, name = 'dora') =>
    run('operator', 'grant', name, '--event', String(event), '--role', role);
  expect(await grant(eventId, 'viewer')).toMatchObject({ code: 0 });
  expect(await grant(eventId, 'door-manager')).toEqual({
    code: 0,
    output: `dora: door-manager of event ${eventId}\n`,
  });
  await grant(second, 'operator');
  const roles = `${eventId}: door-manager, ${second}: operator`;
  expect((await run('operator', 'show', 'dora')).output).toContain(roles);
  expect((await run('operator', 'list')).output).toContain(roles);
  const shown = JSON.parse((await run('operator', 'show', 'dora', '--json')).output) as object;
  expect(shown).toMatchObject({
    role: null,
    eventRoles: [{ eventId, role: 'door-manager' }, { eventId: second }],
  });
  const audit = (await run('audit', '--limit', '2', '--json')).output;
  expect(audit).toContain('"door-manager"');
  expect(await run('operator', 'revoke', 'dora', '--event', String(second))).toMatchObject({ code: 0 });
  const again = await run('operator', 'revoke', 'dora', '--event', String(second));
  expect(again).toEqual({ code: 1, output: expect.stringContaining('has no role for this event') as string });
  expect(await grant(2_000_000_001, 'viewer')).toMatchObject({ code: 1 });
  expect(await grant(eventId, 'viewer', 'nobody')).toMatchObject({ code: 1 });
  expect(await grant(eventId, 'none')).toMatchObject({ code: 2 });
  const token = (events: string) =>
    run('access', 'create-token', 'doors', '--scopes', 'door:read', '--expires', '1h', '--events', events);
  expect((await token(`${eventId},${second}`)).output).toMatch(new RegExp(`events +${eventId}, ${second}`));
  expect((await run('access', 'list')).output).toContain(`${eventId}, ${second}`);
  expect(await token('2000000001')).toMatchObject({ code: 1 });
  expect(await token('one')).toMatchObject({ code: 2 });
});
