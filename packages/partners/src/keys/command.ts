import type { Command } from 'commander';
import { issueKey, listKeys, revokeKey, rotateKey, type SecretKeyRow } from './secret-keys.ts';
import { listPartners } from '../partners.ts';
import { type Database } from '@floodgate/database';
import {
  answeringFromDatabase,
  parseDurationMs,
  parseExpiry,
  parseId,
  parseKeyId,
  type Cli,
  Failure,
  record,
  table,
} from '@floodgate/command';

const INHERITED = 'It expires when the old key would have; --expires sets another end.';
const SHOWN_ONCE = 'Keep the secret key now: it will not be shown again.';
const HOUR_MS = 3_600_000;
const EXPIRY_FORMS = 'a time (2027-01-31T00:00:00Z), a duration (90d, 12h) or never';

type Expiry = Date | 'never';
const readExpiry = (text: string) => parseExpiry(text, new Date());
/** Undefined where nothing was said. */
const endOf = (expiry: Expiry | undefined) => (expiry === 'never' ? null : expiry);

/** `floodgate key …` */
export function addKeyCommands(program: Command, cli: Cli): void {
  const key = program.command('key').description("partners' secret keys");
  addIssue(key, cli);
  addList(key, cli);
  addRotate(key, cli);
  addRevoke(key, cli);
}

function addIssue(key: Command, cli: Cli): void {
  const issue = key
    .command('issue')
    .description('make a new secret key, shown only this once')
    .argument('<partnerId>', 'whose key it is', parseId)
    .option('--expires <when>', `when it ends: ${EXPIRY_FORMS}; never by default`, readExpiry);
  answeringFromDatabase(issue, cli, async (db, options: { expires?: Expiry }, partnerId: number) => {
    const { keyId, secretKey, expiresAt } = await issueKey(db, partnerId, endOf(options.expires));
    const fields = record({ 'secret key': secretKey, 'key id': keyId, expires: expiresAt ?? 'never' });
    return { document: { keyId, secretKey, partnerId, expiresAt }, text: `${fields}\n${SHOWN_ONCE}` };
  });
}

function addList(key: Command, cli: Cli): void {
  const list = key
    .command('list')
    .description('list keys, never their secrets')
    .option('--partner <id>', 'only those of one partner', parseId);
  answeringFromDatabase(list, cli, async (db, options: { partner?: number }) => {
    const keys = (await findKeys(db, options.partner)).map((row) => ({
      ...row,
      state: stateOf(row, new Date()),
    }));
    const rows = keys.map((row) => [
      row.keyId,
      row.partnerId,
      row.state,
      row.createdAt,
      row.expiresAt ?? 'never',
      row.lastUsedAt ?? 'never',
    ]);
    return {
      document: keys,
      text: table(['key id', 'partner', 'state', 'created', 'expires', 'last used'], rows),
    };
  });
}

async function findKeys(db: Database, partnerId: number | undefined): Promise<SecretKeyRow[]> {
  const keys = await listKeys(db, partnerId);
  if (keys.length > 0 || partnerId === undefined) return keys;
  const partners = await listPartners(db);
  if (!partners.some((partner) => partner.id === partnerId)) throw new Failure('no such partner');
  return keys;
}

/** Whether a key opens anything. `now` is this machine's clock; when a key is used, Postgres's decides. */
export function stateOf(
  key: Pick<SecretKeyRow, 'revokedAt' | 'expiresAt'>,
  now: Date,
): 'open' | 'expired' | 'revoked' {
  if (key.revokedAt) return 'revoked';
  return key.expiresAt && key.expiresAt <= now ? 'expired' : 'open';
}

interface RotateOptions {
  overlap: number;
  expires?: Expiry;
}

function addRotate(key: Command, cli: Cli): void {
  const rotate = key
    .command('rotate')
    .description('make a successor to a key, shown only this once; the old key ends after the overlap')
    .argument('<keyId>', 'the key to replace', parseKeyId)
    .option('--overlap <duration>', 'how long both work (24h, 30m, 0h)', parseDurationMs, 24 * HOUR_MS)
    .option(
      '--expires <when>',
      `when the successor ends: ${EXPIRY_FORMS}; by default when the old key would have`,
      readExpiry,
    );
  answeringFromDatabase(rotate, cli, async (db, options: RotateOptions, keyId: string) => {
    const rotated = await rotateKey(db, keyId, options.overlap / HOUR_MS, endOf(options.expires));
    if (!rotated) throw new Failure('no such key, or it is revoked or expired');
    const fields = record({
      'secret key': rotated.secretKey,
      'key id': rotated.keyId,
      expires: rotated.expiresAt ?? 'never',
      'old key ends': rotated.previousKeyEndsAt,
    });
    const isInherited = options.expires === undefined && rotated.expiresAt !== null;
    const lines = [fields, ...(isInherited ? [INHERITED] : []), SHOWN_ONCE];
    return { document: { ...rotated, previousKeyId: keyId }, text: lines.join('\n') };
  });
}

function addRevoke(key: Command, cli: Cli): void {
  const revoke = key
    .command('revoke')
    .description('end a key for good')
    .argument('<keyId>', 'the key to end', parseKeyId);
  answeringFromDatabase(revoke, cli, async (db, _options: object, keyId: string) => {
    if (!(await revokeKey(db, keyId))) throw new Failure('no such key');
    return { document: { keyId, state: 'revoked' }, text: `revoked ${keyId}` };
  });
}
