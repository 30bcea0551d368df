import { Option, type Command } from '@commander-js/extra-typings';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import {
  answeringChange,
  answeringFromDatabase,
  parseDurationMs,
  parseExpiry,
  parseId,
  parseText,
  record,
  tableOf,
  type Cli,
} from '@floodgate/command';
import type { SecretKeyRow } from './list-keys.ts';

const INHERITED = 'It expires when the old key would have; --expires sets another end.';
const SHOWN_ONCE = 'Keep the secret key now: it will not be shown again.';
const DAY_MS = 86_400_000;
const EXPIRY_FORMS = 'a time (2027-01-31T00:00:00Z), a duration (90d, 12h) or never';

/** What was said of the end, as an action wants it: nothing where nothing was said. */
const expiryOf = (expires: Date | 'never' | undefined) =>
  expires === undefined ? {} : { expiresAt: expires === 'never' ? null : expires };

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
    .option('--expires <when>', `when it ends: ${EXPIRY_FORMS}; never by default`, parseExpiry);
  answeringChange(issue, cli, async (db, actor, { expires }, partnerId) => {
    const { perform, issueKeyAction } = await import('../actions.ts');
    const issued = await perform(db, issueKeyAction, { partnerId, ...expiryOf(expires) }, actor);
    const { keyId, secretKey, expiresAt } = issued;
    const fields = record({ 'secret key': secretKey, 'key id': keyId, expires: expiresAt ?? 'never' });
    return { document: issued, text: `${fields}\n${SHOWN_ONCE}` };
  });
}

function addList(key: Command, cli: Cli): void {
  const list = key
    .command('list')
    .description('list keys, never their secrets')
    .option('--partner <id>', 'only those of one partner', parseId);
  answeringFromDatabase(list, cli, async (db, { partner }) => {
    const keys = (await findKeys(db, partner)).map((row) => ({ ...row, state: stateOf(row, new Date()) }));
    const rows = keys.map((row) => ({
      'key id': row.keyId,
      partner: row.partnerId,
      state: row.state,
      created: row.createdAt,
      expires: row.expiresAt ?? 'never',
      'last used within the hour from': row.lastUsedAt ?? 'never',
    }));
    return { document: keys, text: tableOf(rows) };
  });
}

async function findKeys(db: Database, partnerId: number | undefined): Promise<SecretKeyRow[]> {
  const { listKeys } = await import('./list-keys.ts');
  const keys = await listKeys(db, partnerId);
  if (keys.length > 0 || partnerId === undefined) return keys;
  const { listPartners } = await import('../list-partners.ts');
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

function addRotate(key: Command, cli: Cli): void {
  const rotate = key
    .command('rotate')
    .description('make a successor to a key, shown only this once; the old key ends after the overlap')
    .argument('<keyId>', 'the key to replace', parseText)
    .addOption(
      new Option('--overlap <duration>', 'how long both work (24h, 30m, 0h)')
        .argParser(parseDurationMs)
        .default(DAY_MS, '24h'),
    )
    .option(
      '--expires <when>',
      `when the successor ends: ${EXPIRY_FORMS}; by default when the old key would have`,
      parseExpiry,
    );
  answeringChange(rotate, cli, async (db, actor, { overlap: overlapMs, expires }, keyId) => {
    const { perform, rotateKeyAction } = await import('../actions.ts');
    const rotated = await perform(db, rotateKeyAction, { keyId, overlapMs, ...expiryOf(expires) }, actor);
    const fields = record({
      'secret key': rotated.secretKey,
      'key id': rotated.keyId,
      expires: rotated.expiresAt ?? 'never',
      'old key ends': rotated.previousKeyEndsAt,
    });
    const isInherited = expires === undefined && rotated.expiresAt !== null;
    const lines = [fields, ...(isInherited ? [INHERITED] : []), SHOWN_ONCE];
    return { document: rotated, text: lines.join('\n') };
  });
}

function addRevoke(key: Command, cli: Cli): void {
  const revoke = key
    .command('revoke')
    .description('end a key for good')
    .argument('<keyId>', 'the key to end', parseText);
  answeringChange(revoke, cli, async (db, actor, _options, keyId) => {
    const { perform, revokeKeyAction } = await import('../actions.ts');
    const revoked = await perform(db, revokeKeyAction, { keyId }, actor);
    return { document: revoked, text: `revoked ${keyId}` };
  });
}
