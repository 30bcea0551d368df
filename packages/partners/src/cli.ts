import { Option, type Command } from '@commander-js/extra-typings';
import { actionCommands } from '@floodgate/audit/commands';
import { columnsOf, record, tableOf, type Cli } from '@floodgate/command';
import {
  parseDurationMs,
  parseExpiry,
  parseId,
  parseText,
  parseWhole,
  parseWholeOrNone,
} from '@floodgate/command/arguments';
import { queryCommands } from '@floodgate/operators/commands';
import { PARTNER_COLUMNS } from './columns.ts';
import type { IssuedKey, ListedKey } from './keys.ts';
import type { ListedPartner } from './partners.ts';

const loadActions = () => import('./actions.ts');
const loadOperations = async () => (await import('./console.ts')).partnerOperations;

const PARTNER = ['<partnerId>', 'the partner', parseId] as const;

/** `floodgate partner …` */
export function addPartnerCommands(program: Command, cli: Cli) {
  const partner = program.command('partner').description('the platforms that register people');
  const actionCommand = actionCommands(partner, cli, loadActions);
  actionCommand(
    'create',
    (actions) => actions.createPartnerAction,
    ({ id, name, contactEmail }) => record({ 'partner id': id, name, contact: contactEmail }),
  )
    .description('add a partner')
    .argument('<name>', 'its name, unique', parseText)
    .option('--contact <address>', 'e-mail address that gets a notice when a webhook is disabled', parseText);
  actionCommand(
    'contact',
    (actions) => actions.contactPartnerAction,
    ({ partnerId, contactEmail }) => {
      return `partner ${partnerId}: contact ${contactEmail ?? 'none'}`;
    },
  )
    .description('set the e-mail address that gets a notice when a webhook of the partner is disabled')
    .argument(...PARTNER)
    .argument('<contact>', 'an e-mail address, or "none"', parseText);
  addQueries(partner, cli);
  actionCommand(
    'limit',
    (actions) => actions.limitPartnerAction,
    ({ partnerId, requestsPerSecond }) => {
      const limitText = requestsPerSecond === null ? 'no limit' : `${requestsPerSecond} requests a second`;
      return `partner ${partnerId}: ${limitText}`;
    },
  )
    .description("limit a partner's requests, over all API processes together")
    .argument(...PARTNER)
    .argument('<requestsPerSecond>', '1 to 1000000, or "none"', parseWholeOrNone);
  actionCommand(
    'weigh',
    (actions) => actions.weighPartnerAction,
    (done) => `partner ${done.partnerId}: weight ${done.weight}`,
  )
    .description(
      "set a partner's share if partners compete for seats, relative to other partners; 1 by default",
    )
    .argument(...PARTNER)
    .argument('<weight>', '1 to 100', parseWhole);
  const disabling = (name: 'disable' | 'enable', description: string) =>
    actionCommand(
      name,
      (actions) => actions.disablePartnerAction,
      ({ partnerId }) => `partner ${partnerId} is ${name}d`,
    )
      .description(description)
      .argument(...PARTNER)
      .setOptionValue('disabled', name === 'disable');
  disabling('disable', 'refuse all keys of a partner and stop its webhooks');
  disabling('enable', 'accept a disabled partner again');
}

function addQueries(partner: Command, cli: Cli) {
  const queryCommand = queryCommands(partner, cli, loadOperations);
  queryCommand('list', (operations) => operations.partnerList, partnersText).description(
    'list partners, with their contacts, limits, weights, open keys and granted events',
  );
  queryCommand(
    'refusals',
    (operations) => operations.partnerRefusals,
    (refusals) => columnsOf(refusals, ['partnerId', 'code', 'refusals']),
  )
    .description('count the refused requests of partners in the last hour by response code')
    .option('--partner <partnerId>', 'only those of this partner', parseId);
}

const partnersText = (partners: ListedPartner[]) => columnsOf(partners, ['id', 'name', ...PARTNER_COLUMNS]);

const INHERITED = 'It expires when the old key would have expired; --expires sets another time.';
const SHOWN_ONCE = 'Keep the secret key now: it will not be shown again.';
const DAY_MS = 86_400_000;
const EXPIRY_FORMS = 'a time (2027-01-31T00:00:00Z), a duration (90d, 12h) or never';

/** `floodgate key …` */
export function addKeyCommands(program: Command, cli: Cli) {
  const key = program.command('key').description("partners' secret keys");
  const actionCommand = actionCommands(key, cli, loadActions);
  actionCommand(
    'issue',
    (actions) => actions.issueKeyAction,
    (issued) => `${record(fieldsOf(issued))}\n${SHOWN_ONCE}`,
  )
    .description('issue a secret key, which is shown only once')
    .argument(...PARTNER)
    .option('--expires <when>', `when it expires: ${EXPIRY_FORMS}; never by default`, parseExpiry)
    .addOption(new Option('--test', 'a key for test events only').implies({ mode: 'test' }));
  queryCommands(key, cli, loadOperations)(
    'list',
    (operations) => operations.keyList,
    (keys) => tableOf(keys.map(rowOf)),
  )
    .description('list keys, never their secrets')
    .option('--partner <id>', 'only the keys of this partner', parseId);
  const overlap = new Option('--overlap <duration>', 'how long both keys work (24h, 30m, 0h)');
  const expiry = `when the successor expires: ${EXPIRY_FORMS}; by default when the old key would have expired`;
  actionCommand(
    'rotate',
    (actions) => actions.rotateKeyAction,
    (rotated, { expiresAt }) => {
      const fields = record({ ...fieldsOf(rotated), 'old key ends': rotated.previousKeyEndsAt });
      const isInherited = expiresAt === undefined && rotated.expiresAt !== null;
      return [fields, ...(isInherited ? [INHERITED] : []), SHOWN_ONCE].join('\n');
    },
  )
    .description(
      'issue a successor to a key, which is shown only once; the old key expires after the overlap',
    )
    .argument('<keyId>', 'the key to replace', parseText)
    .addOption(overlap.argParser(parseDurationMs).default(DAY_MS, '24h'))
    .option('--expires <when>', expiry, parseExpiry);
  actionCommand(
    'revoke',
    (actions) => actions.revokeKeyAction,
    ({ keyId }) => `revoked ${keyId}`,
  )
    .description('revoke a key permanently')
    .argument('<keyId>', 'the key to revoke', parseText);
}

/** One row of the table of keys. */
const rowOf = (key: ListedKey) => ({
  keyId: key.keyId,
  partnerId: key.partnerId,
  mode: key.mode,
  createdAt: key.createdAt,
  state: key.state,
  expiresAt: key.expiresAt ?? 'never',
  lastUsedAt: key.lastUsedAt ?? 'never',
});

/** The text output of a new key. */
function fieldsOf({ secretKey, keyId, mode, expiresAt }: IssuedKey) {
  return { 'secret key': secretKey, 'key id': keyId, mode, expires: expiresAt ?? 'never' };
}
