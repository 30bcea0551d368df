import { Option, type Command } from '@commander-js/extra-typings';
import { answeringChange, answeringFromDatabase, record, tableOf, type Cli } from '@floodgate/command';
import {
  parseDurationMs,
  parseExpiry,
  parseId,
  parseRateLimit,
  parseText,
  parseTextOrNone,
  parseWhole,
} from '@floodgate/command/arguments';
import { Failure } from '@floodgate/service/failure';
import type { IssuedKey } from './keys.ts';

/** `floodgate partner …` */
export function addPartnerCommands(program: Command, cli: Cli): void {
  const partner = program.command('partner').description('the platforms that register people');
  const create = partner
    .command('create')
    .description('add a partner')
    .argument('<name>', 'its name, unique', parseText)
    .option('--contact <address>', 'e-mail address that gets a notice when a webhook is disabled', parseText);
  answeringChange(create, cli, async (db, actor, { contact = null }, name) => {
    const { perform, createPartnerAction } = await import('./actions.ts');
    const created = await perform(db, createPartnerAction, { name, contactEmail: contact }, actor);
    const text = record({ 'partner id': created.id, name: created.name, contact: created.contactEmail });
    return { document: created, text };
  });
  const contact = partner
    .command('contact')
    .description('set the e-mail address that gets a notice when a webhook of the partner is disabled')
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<contact>', 'an e-mail address, or "none"', parseTextOrNone);
  answeringChange(contact, cli, async (db, actor, _options, partnerId, given) => {
    const { perform, contactPartnerAction } = await import('./actions.ts');
    const input = { partnerId, contactEmail: orNull(given) };
    const document = await perform(db, contactPartnerAction, input, actor);
    return { document, text: `partner ${partnerId}: contact ${given}` };
  });
  const list = partner
    .command('list')
    .description('list partners, with their contacts, limits, weights, open keys and granted events');
  answeringFromDatabase(list, cli, async (db) => {
    const { listPartners } = await import('./partners.ts');
    const document = await listPartners(db);
    return { document, text: tableOf(document) };
  });
  const limit = partner
    .command('limit')
    .description("limit a partner's requests, over all API processes together")
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<requestsPerSecond>', '1 to 1000000, or "none"', parseRateLimit);
  answeringChange(limit, cli, async (db, actor, _options, partnerId, given) => {
    const { perform, limitPartnerAction } = await import('./actions.ts');
    const input = { partnerId, requestsPerSecond: orNull(given) };
    const document = await perform(db, limitPartnerAction, input, actor);
    const limitText = given === 'none' ? 'no limit' : `${given} requests a second`;
    return { document, text: `partner ${partnerId}: ${limitText}` };
  });
  const weigh = partner
    .command('weigh')
    .description("set a partner's share where partners compete for seats, relative to others'; 1 by default")
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<weight>', '1 to 100', parseWhole);
  answeringChange(weigh, cli, async (db, actor, _options, partnerId, weight) => {
    const { perform, weighPartnerAction } = await import('./actions.ts');
    const document = await perform(db, weighPartnerAction, { partnerId, weight }, actor);
    return { document, text: `partner ${partnerId}: weight ${weight}` };
  });
}

const orNull = <Given>(given: Given | 'none') => (given === 'none' ? null : given);

const INHERITED = 'It expires when the old key would have; --expires sets another end.';
const SHOWN_ONCE = 'Keep the secret key now: it will not be shown again.';
const DAY_MS = 86_400_000;
const EXPIRY_FORMS = 'a time (2027-01-31T00:00:00Z), a duration (90d, 12h) or never';

/** `floodgate key …` */
export function addKeyCommands(program: Command, cli: Cli): void {
  const key = program.command('key').description("partners' secret keys");
  const issue = key
    .command('issue')
    .description('make a new secret key, shown only this once')
    .argument('<partnerId>', 'whose key it is', parseId)
    .option('--expires <when>', `when it ends: ${EXPIRY_FORMS}; never by default`, parseExpiry)
    .option('--test', 'it opens test events, and no others');
  answeringChange(issue, cli, async (db, actor, { expires, test }, partnerId) => {
    const { perform, issueKeyAction } = await import('./actions.ts');
    const mode = test ? 'test' : 'live';
    const issued = await perform(db, issueKeyAction, { partnerId, mode, ...expiryOf(expires) }, actor);
    return { document: issued, text: `${record(fieldsOf(issued))}\n${SHOWN_ONCE}` };
  });
  const list = key
    .command('list')
    .description('list keys, never their secrets')
    .option('--partner <id>', 'only those of one partner', parseId);
  answeringFromDatabase(list, cli, async (db, { partner: partnerId }) => {
    const { listKeys } = await import('./keys.ts');
    const { listPartners } = await import('./partners.ts');
    const keys = await listKeys(db, partnerId);
    const isMissing = async () => !(await listPartners(db)).some(({ id }) => id === partnerId);
    if (keys.length === 0 && partnerId !== undefined && (await isMissing()))
      throw new Failure('no such partner');
    const rows = keys.map((row) => {
      const { revokedAt: _, expiresAt, lastUsedAt, ...shown } = row;
      return { ...shown, expiresAt: expiresAt ?? 'never', lastUsedAt: lastUsedAt ?? 'never' };
    });
    return { document: keys, text: tableOf(rows) };
  });
  addRotate(key, cli);
  const revoke = key
    .command('revoke')
    .description('end a key for good')
    .argument('<keyId>', 'the key to end', parseText);
  answeringChange(revoke, cli, async (db, actor, _options, keyId) => {
    const { perform, revokeKeyAction } = await import('./actions.ts');
    const revoked = await perform(db, revokeKeyAction, { keyId }, actor);
    return { document: revoked, text: `revoked ${keyId}` };
  });
}

function addRotate(key: Command, cli: Cli): void {
  const overlap = new Option('--overlap <duration>', 'how long both work (24h, 30m, 0h)');
  const expiry = `when the successor ends: ${EXPIRY_FORMS}; by default when the old key would have`;
  const rotate = key
    .command('rotate')
    .description('make a successor to a key, shown only this once; the old key ends after the overlap')
    .argument('<keyId>', 'the key to replace', parseText)
    .addOption(overlap.argParser(parseDurationMs).default(DAY_MS, '24h'))
    .option('--expires <when>', expiry, parseExpiry);
  answeringChange(rotate, cli, async (db, actor, { overlap: overlapMs, expires }, keyId) => {
    const { perform, rotateKeyAction } = await import('./actions.ts');
    const rotated = await perform(db, rotateKeyAction, { keyId, overlapMs, ...expiryOf(expires) }, actor);
    const fields = record({ ...fieldsOf(rotated), 'old key ends': rotated.previousKeyEndsAt });
    const isInherited = expires === undefined && rotated.expiresAt !== null;
    const lines = [fields, ...(isInherited ? [INHERITED] : []), SHOWN_ONCE];
    return { document: rotated, text: lines.join('\n') };
  });
}

/** The expiry as the action expects it. Absent if the option is absent. */
const expiryOf = (expires: Date | 'never' | undefined) =>
  expires === undefined ? {} : { expiresAt: expires === 'never' ? null : expires };

/** The text output of a new key. */
function fieldsOf({ secretKey, keyId, mode, expiresAt }: IssuedKey) {
  return { 'secret key': secretKey, 'key id': keyId, mode, expires: expiresAt ?? 'never' };
}
