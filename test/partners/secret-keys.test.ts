import { issueKey } from '@floodgate/partners';
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, inject } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = databaseTest({
  own: 'changes the schema, the roles or the settings of its database',
});

let env: { DATABASE_URL: string; QUEUE_URL: string };

test.beforeAll(async () => {
  env = { DATABASE_URL: given.database.url, QUEUE_URL: inject('redisUrl') ?? given.database.url };
});

/** Runs an operator's command on keys and answers its document. */
async function key<Document>(...args: string[]): Promise<Document> {
  const { code, output } = await runCli(env, 'key', ...args, '--json');
  expect(code, output).toBe(0);
  return JSON.parse(output) as Document;
}

interface Issued {
  keyId: string;
  secretKey: string;
}

test('secret keys are 256 random bits each, and none resembles another', async () => {
  const { partnerId } = await createFixture(given.database.db);
  const keys = await Promise.all(Array.from({ length: 500 }, () => issueKey(given.database.db, partnerId)));
  const secrets = keys.map(({ secretKey }) => Buffer.from(secretKey.slice(-43), 'base64url'));
  expect(secrets.every(({ length }) => length === 32)).toBe(true);
  expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(keys.length);
  // Every bit is set in about half of the secrets: 500 tosses leave 150 to 350 with a chance of 1 in 10^18.
  for (let bit = 0; bit < 256; bit++) {
    const set = secrets.filter((secret) => (secret[bit >> 3]! >> (bit & 7)) & 1).length;
    expect(set, `bit ${bit}`).toBeGreaterThan(150);
    expect(set, `bit ${bit}`).toBeLessThan(350);
  }
});

test('nowhere in the database is a secret, in whatever form, but for its hash', async () => {
  const { partnerId } = await createFixture(given.database.db);
  const { keyId, secretKey } = await key<Issued>('issue', String(partnerId));
  const { secretKey: successor } = await key<Issued>('rotate', keyId);
  for (const secret of [secretKey, successor].map((whole) => whole.slice(-43))) {
    const bytes = Buffer.from(secret, 'base64url');
    const hash = createHash('sha256').update(secret).digest('hex');
    const forms = [
      secret,
      Buffer.from(secret).toString('hex'),
      bytes.toString('hex'),
      bytes.toString('base64'),
    ];
    expect(await tablesWith(hash)).toEqual(['secret_keys']);
    for (const form of forms) expect(await tablesWith(form)).toEqual([]);
  }
});

/** The tables, of any schema, in which some row holds the text; bytes are looked at in hexadecimal. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema')`.execute(given.database.db);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`
      select from ${sql.raw(name)} as t where to_jsonb(t)::text ilike ${`%${text}%`} limit 1`.execute(
      given.database.db,
    );
    if (rows.length > 0) found.push(name.replace('public.', ''));
  }
  return found;
}

describe('the successor of a key', () => {
  const HOUR_MS = 3_600_000;

  interface Rotated extends Issued {
    expiresAt: string | null;
    previousKeyEndsAt: string;
  }

  let partnerId: string;
  beforeAll(async () => {
    partnerId = String((await createFixture(given.database.db)).partnerId);
  });

  /** Hours from now, to the hour. */
  const hoursUntil = (time: string | null) =>
    time === null ? null : Math.round((Date.parse(time) - Date.now()) / HOUR_MS);
  const stored = (keyId: string) =>
    given.database.db
      .selectFrom('secret_keys')
      .select('expires_at')
      .where('key_id', '=', keyId)
      .executeTakeFirstOrThrow();

  test.for([
    { issued: [], rotated: [], ends: null, oldEnds: 24 },
    { issued: ['--expires', '30d'], rotated: [], ends: 720, oldEnds: 24 },
    { issued: ['--expires', '2h'], rotated: [], ends: 2, oldEnds: 2 },
    { issued: ['--expires', '2h'], rotated: ['--expires', 'never'], ends: null, oldEnds: 2 },
    { issued: ['--expires', '2h'], rotated: ['--expires', '90d'], ends: 2160, oldEnds: 2 },
    { issued: ['--expires', 'never'], rotated: ['--expires', '90d'], ends: 2160, oldEnds: 24 },
  ])('of a key issued with $issued and rotated with $rotated ends in $ends h', async (input) => {
    const { keyId } = await key<Issued>('issue', partnerId, ...input.issued);
    const successor = await key<Rotated>('rotate', keyId, ...input.rotated);
    expect(hoursUntil(successor.expiresAt)).toBe(input.ends);
    expect(hoursUntil(successor.previousKeyEndsAt)).toBe(input.oldEnds);
    expect((await stored(successor.keyId)).expires_at?.toISOString() ?? null).toBe(successor.expiresAt);
  });

  test('is shown with its end, and with where that comes from', async () => {
    const rotate = async (...args: string[]) => {
      const { keyId } = await key<Issued>('issue', partnerId, '--expires', '2h');
      return (await runCli(env, 'key', 'rotate', keyId, ...args)).output;
    };
    expect(await rotate()).toMatch(
      /^expires {7}20.*Z\nold key ends {2}20.*Z\nIt expires when the old key would have expired; --expires/m,
    );
    expect(await rotate('--expires', 'never')).toMatch(
      /^expires {7}never\nold key ends .*\nKeep the secret/m,
    );
  });

  test('works until the operator revokes it, like any other key', async () => {
    const { keyId } = await key<Issued>('issue', partnerId);
    const successor = await key<Rotated>('rotate', keyId, '--overlap', '1h');
    await key('revoke', keyId);
    const revoked = given.database.db
      .selectFrom('secret_keys')
      .select('key_id')
      .where('key_id', 'in', [keyId, successor.keyId])
      .where('revoked_at', 'is not', null);
    expect(await revoked.execute()).toEqual([{ key_id: keyId }]);
  });
});
