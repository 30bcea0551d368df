import { Option, type Command } from '@commander-js/extra-typings';
import type { AuditEntry } from '@floodgate/audit';
import { actionCommands } from '@floodgate/audit/commands';
import { record, tableOf, type Cli } from '@floodgate/command';
import { parseExpiry, parseLimit, parseSince, parseText } from '@floodgate/command/arguments';
import type { OpenAccess, Operator } from './actions.ts';
import { queryCommands } from './commands.ts';

const loadActions = () => import('./actions.ts');
const loadOperations = async () => (await import('./console.ts')).operatorOperations;

const NAME = ['<name>', 'the operator', parseText] as const;
const ROLES = ['viewer', 'operator', 'owner'] as const;
const roleOption = () => new Option('--role <role>', 'what the operator may do').choices(ROLES);
const EMAIL = 'address for the sign-in at the identity provider, or none';
const PASSWORD = 'Keep the password now: it will not be shown again.';
const TOKEN = 'Keep the token now: it will not be shown again.';

/** `floodgate operator …` */
export function addOperatorCommands(program: Command, cli: Cli) {
  const operator = program.command('operator').description('people who use the console');
  const actionCommand = actionCommands(operator, cli, loadActions);
  actionCommand(
    'create',
    (actions) => actions.createOperatorAction,
    ({ name, role, password }) => {
      return `${record({ operator: name, role, password })}\n${PASSWORD}`;
    },
  )
    .description('add an operator with a password, which is shown only once')
    .argument('<name>', 'the name, as in the audit log', parseText)
    .addOption(roleOption().makeOptionMandatory())
    .option('--email <address>', EMAIL, parseText);
  actionCommand(
    'update',
    (actions) => actions.updateOperatorAction,
    (updated) => record(fieldsOf(updated)),
  )
    .description('change the given settings of an operator; open sessions have them at once')
    .argument(...NAME)
    .addOption(roleOption())
    .option('--email <address>', EMAIL, parseText)
    .addOption(
      new Option('--disable', 'end the sessions, and refuse further ones').implies({ disabled: true }),
    )
    .addOption(new Option('--enable', 'accept sign-ins again').implies({ disabled: false }));
  actionCommand(
    'reset-password',
    (actions) => actions.resetPasswordAction,
    ({ name, password }) => {
      return `${record({ operator: name, password })}\n${PASSWORD}`;
    },
  )
    .description('set a new password, which is shown only once, and end the sessions')
    .argument(...NAME);
  actionCommand(
    'sign-out',
    (actions) => actions.signOutOperatorAction,
    ({ name, ended }) => `${name}: ${ended} sessions ended`,
  )
    .description('end the sessions of an operator at once')
    .argument(...NAME);
  const list = (all: Operator[]) => tableOf(all.map(fieldsOf));
  queryCommands(operator, cli, loadOperations)(
    'list',
    (operations) => operations.operatorList,
    list,
  ).description('list operators');
}

/** `floodgate access …` */
export function addAccessCommands(program: Command, cli: Cli) {
  const access = program.command('access').description('sessions of operators, and tokens of machines');
  const actionCommand = actionCommands(access, cli, loadActions);
  actionCommand(
    'create-token',
    (actions) => actions.createTokenAction,
    ({ token, id, scopes, expiresAt: expires }) => {
      return `${record({ token, id, scopes: scopes.join(', '), expires })}\n${TOKEN}`;
    },
  )
    .description('issue a token for the operator API, which is shown only once')
    .argument('<name>', 'its name in the audit log, after "token:"', parseText)
    .requiredOption('--scopes <scopes>', 'e.g. events:read,tickets:write', parseScopes)
    .requiredOption(
      '--expires <when>',
      'a time (2027-01-31T00:00:00Z) or a duration (90d, 12h)',
      parseExpiry,
    );
  actionCommand(
    'revoke',
    (actions) => actions.revokeAccessAction,
    ({ id, name }) => `revoked ${id} of ${name}`,
  )
    .description('end a session, or revoke a token, at once')
    .argument('<accessId>', 'its id', parseText);
  const rowOf = ({ id, kind, name, createdAt, expiresAt, scopes }: OpenAccess) => {
    return { id, kind, name, createdAt, expiresAt, scopes: scopes?.join(', ') ?? null };
  };
  const list = (all: OpenAccess[]) => tableOf(all.map(rowOf));
  queryCommands(access, cli, loadOperations)('list', (operations) => operations.accessList, list).description(
    'list open sessions and tokens, newest first',
  );
}

const parseScopes = (scopes: string) => scopes.split(',').map((scope) => scope.trim());

const fieldsOf = ({ name, role, email, disabledAt: disabled, createdAt: created }: Operator) => {
  return { name, role, email, disabled, created };
};

/** Limit of the table's column for changes; --json shows all. */
const SHOWN_CHARACTERS = 120;

/** `floodgate audit` */
export function addAuditCommand(program: Command, cli: Cli) {
  const rowOf = async (entry: AuditEntry) => {
    const { at, actor: by, action, subject } = entry;
    return { at, by, action, subject, change: await changeText(entry) };
  };
  const list = async (entries: AuditEntry[]) => tableOf(await Promise.all(entries.map(rowOf)));
  queryCommands(program, cli, loadOperations)('audit', (operations) => operations.auditList, list)
    .description('list changes and their authors, newest first')
    .option('--since <when>', 'only changes after this time, or in this period (90d, 12h)', parseSince)
    .option('--subject <kind:id>', 'only changes of this thing, e.g. ticket:7', parseText)
    .option('--limit <entries>', 'maximum number of changes', parseLimit, 50);
}

/** Returns the fields that differ, as in `capacity 100 → 200`. */
async function changeText(entry: AuditEntry) {
  const { differencesOf } = await import('@floodgate/audit');
  const line = differencesOf(entry)
    .map(({ name, was, is, isNew }) => {
      const [old, now] = [was, is].map((value) => JSON.stringify(value));
      return `${name} ${isNew ? '' : `${old} → `}${now}`;
    })
    .join(', ');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}
