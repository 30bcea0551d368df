import { createPassSigner, parsePass, verifyPass } from '@floodgate/passes';
import { perform } from '@floodgate/audit';
import { rotatePassKeyAction, withdrawPassKeyAction } from '@floodgate/passes/actions';
import { type ServiceName } from '@floodgate/database';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { databaseTest } from '../harness/database-test.ts';
import { roleOf, withRole } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'rotates the keys that sign passes' });

const SUBJECT = { eventId: 1042, ticketId: 3, serial: 317 };

test('the schema brings a key along: passes can be made at once', async () => {
  const signer = createPassSigner({ db: given.db });
  const token = await signer.tokenFor(SUBJECT);
  expect(await signer.tokenFor(SUBJECT)).toBe(token);
  expect(verifyPass(token, (await signer.keys()).publicKeys)).toMatchObject({
    eventId: 1042,
    ticketId: 3,
    serial: 317,
  });
});

test('API and delivery may sign with their own roles and store the public key, and the worker may not read the keys', async () => {
  const signAs = async (service: ServiceName) => {
    const connectionString = withRole(roleOf(service), given.database.url);
    const own = connectInTest(connectionString);
    await given.db.updateTable('pass_keys').set({ public_key: null }).execute();
    try {
      return await createPassSigner({ db: own }).tokenFor(SUBJECT);
    } finally {
      await own.destroy();
    }
  };
  expect(await signAs('delivery')).toBe(await signAs('api'));
  const stored = given.db.selectFrom('pass_keys').select('id').where('public_key', 'is', null);
  expect(await stored.execute()).toEqual([]);
  await expect(signAs('worker')).rejects.toMatchObject({ code: '42501' });
});

test('a new key signs soon, and what the old one signed is valid until that is withdrawn', async () => {
  const signer = createPassSigner({ db: given.db });
  const before = await signer.tokenFor(SUBJECT);
  const oldId = parsePass(before)!.keyId;
  const { id } = await perform(given.db, rotatePassKeyAction, {}, 'jane');
  expect(id).toBe(oldId + 1);
  await waitUntil('the new key signs', async () => parsePass(await signer.tokenFor(SUBJECT))!.keyId === id);
  expect(verifyPass(before, (await signer.keys()).publicKeys)).toMatchObject({ serial: 317 });

  await expect(perform(given.db, withdrawPassKeyAction, { keyId: id }, 'jane')).rejects.toThrow(
    'the key still signs passes; rotate first',
  );
  await expect(perform(given.db, withdrawPassKeyAction, { keyId: 999 }, 'jane')).rejects.toThrow(
    'no such key',
  );
  await perform(given.db, withdrawPassKeyAction, { keyId: oldId }, 'jane');
  await waitUntil('the old key is gone', async () => !(await signer.keys()).publicKeys.has(oldId));
  expect(verifyPass(before, (await signer.keys()).publicKeys)).toBe('unknown-key');
  expect(verifyPass(await signer.tokenFor(SUBJECT), (await signer.keys()).publicKeys)).toMatchObject({
    keyId: id,
  });
});

test('of rotations at once each makes a key, the last of them signs, and the audit log holds none', async () => {
  const made = await Promise.all([1, 2, 3].map(() => perform(given.db, rotatePassKeyAction, {}, 'jane')));
  const signing = given.db.selectFrom('pass_keys').select('id').where('retired_at', 'is', null);
  const ids = made.map(({ id }) => id).toSorted((a, b) => a - b);
  expect(new Set(ids).size).toBe(3);
  expect(await signing.execute()).toEqual([{ id: ids.at(-1) }]);
  const { rows } = await sql<{ text: string }>`
    select string_agg(audit_log::text, '') as text from audit_log where action like 'pass.%'`.execute(
    given.db,
  );
  const keys = await given.db.selectFrom('pass_keys').select('private_key').execute();
  for (const { private_key } of keys)
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      expect(rows[0]!.text).not.toContain(private_key.subarray(-32).toString(encoding));
});
