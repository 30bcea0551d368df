import { Type } from '@sinclair/typebox';
import { defineAction, whole } from '@floodgate/audit';
import { isCluster, type Database } from '@floodgate/database';
import { Failure, NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { COLUMNS, listPassKeys, type PassKey } from './pass-keys.ts';

const NOW = sql<Date>`now()`;
// The id of an advisory lock: "pass" in ASCII. Without the lock, two concurrent rotations would choose the same key id.
const ROTATE_LOCK = 0x70617373;

const stateOf = ({ retiredAt, withdrawnAt }: PassKey) => ({ retiredAt, withdrawnAt });

/**
 * Throws Failure if the connected role cannot create a key. Citus inserts the private key by value, for which a role
 * needs a right that the console must not have: with it, it could store a key that it knows.
 */
async function assertMayRotate(db: Database) {
  const { rows } = await sql<{ may: boolean }>`
    select has_column_privilege('pass_keys', 'private_key', 'insert') as may`.execute(db);
  if (!rows[0]!.may && (await isCluster(db)))
    throw new Failure('on a Citus cluster, only the command "floodgate pass rotate" can create a key');
}

/**
 * Creates a new signing key. Passes signed by earlier keys stay valid. Concurrent rotations run one after the
 * other.
 */
export const rotatePassKeyAction = defineAction({
  name: 'pass.rotate',
  input: Type.Object({}),
  run: async (transaction, _input, note) => {
    await assertMayRotate(transaction);
    await sql`select pg_advisory_xact_lock(${ROTATE_LOCK})`.execute(transaction);
    const [newest] = await listPassKeys(transaction);
    const signing = transaction.updateTable('pass_keys').where('retired_at', 'is', null);
    await signing.set({ retired_at: NOW }).execute();
    const key = await transaction
      .insertInto('pass_keys')
      .values({ id: (newest?.id ?? 0) + 1 })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow();
    note(`pass-key:${key.id}`, { after: stateOf(key) });
    return key;
  },
});

/** Makes all passes of a retired key invalid. */
export const withdrawPassKeyAction = defineAction({
  name: 'pass.withdraw',
  input: Type.Object({ keyId: whole(1, 65_535) }),
  run: async (transaction, { keyId }, note) => {
    const before = (await listPassKeys(transaction)).find(({ id }) => id === keyId);
    if (!before) throw new NotFound('no such key');
    if (before.retiredAt === null) throw new Failure('the key still signs passes; rotate first');
    if (before.withdrawnAt !== null) return before;
    const withdrawn = transaction.updateTable('pass_keys').set({ withdrawn_at: NOW }).where('id', '=', keyId);
    const after = await withdrawn.returning(COLUMNS).executeTakeFirstOrThrow();
    note(`pass-key:${keyId}`, { before: stateOf(before), after: stateOf(after) });
    return after;
  },
});
