import { Option, type Command } from '@commander-js/extra-typings';
import type { AuditEntry } from '@floodgate/audit';
import { actionCommands } from '@floodgate/audit/commands';
import { record, tableOf, type Cli } from '@floodgate/command';
import { parseExpiry, parseId, parseLimit, parseSince, parseText } from '@floodgate/command/arguments';
import type { ListedOperator, Operator } from './actions.ts';
import { queryCommands } from './commands.ts';
import type { OpenAccess } from './tokens.ts';

const loadActions = async () => ({
  ...(await import('./actions.ts')),
  ...(await import('./event-roles.ts')),
});
const loadTokens = () => import('./tokens.ts');
const loadOperations = async () => (await import('./console.ts')).operatorOperations;

const NAME = ['<name>', 'the operator', parseText] as const;
const ROLES = ['viewer', 'door-manager', 'operator', 'owner'] as const;
const roleOption = () =>
  new Option('--role <role>', 'what the operator may do with all events; none: only roles of events').choices(
    [...ROLES, 'none'],
  );
const EVENT = ['--event <id>', 'the event', parseId] as const;
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
  addRoleCommands(operator, cli);
}

/** Commands about the roles of operators. */
function addRoleCommands(operator: Command, cli: Cli) {
  const actionCommand = actionCommands(operator, cli, loadActions);
  actionCommand(
    'grant',
    (actions) => actions.grantOperatorAction,
    ({ name, eventId, role }) => `${name}: ${role} of event ${eventId}`,
  )
    .description('give an operator a role for one event, in place of the one it had')
    .argument(...NAME)
    .requiredOption(...EVENT)
    .addOption(
      new Option('--role <role>', 'what the operator may do with this event')
        .choices(ROLES)
        .makeOptionMandatory(),
    );
  actionCommand(
    'revoke',
    (actions) => actions.revokeOperatorAction,
    ({ name, eventId }) => `${name}: no role of event ${eventId}`,
  )
    .description('take the role of an operator for one event; its role for all events stays')
    .argument(...NAME)
    .requiredOption(...EVENT);
  const queryCommand = queryCommands(operator, cli, loadOperations);
  const show = (one: ListedOperator) => record(operatorRow(one));
  queryCommand('show', (operations) => operations.operatorShow, show)
    .description('show an operator and its roles')
    .argument(...NAME);
  const list = (all: ListedOperator[]) => tableOf(all.map(operatorRow));
  queryCommand('list', (operations) => operations.operatorList, list).description(
    'list operators and their roles',
  );
}

/** `floodgate access …` */
export function addAccessCommands(program: Command, cli: Cli) {
  const access = program.command('access').description('sessions of operators, and tokens of machines');
  const actionCommand = actionCommands(access, cli, loadTokens);
  actionCommand(
    'create-token',
    (actions) => actions.createTokenAction,
    ({ token, id, scopes, eventIds, expiresAt: expires }) => {
      const limits = { scopes: scopes.join(', '), events: eventsText(eventIds), expires };
      return `${record({ token, id, ...limits })}\n${TOKEN}`;
    },
  )
    .description('issue a token for the operator API, which is shown only once')
    .argument('<name>', 'its name in the audit log, after "token:"', parseText)
    .requiredOption('--scopes <scopes>', 'e.g. events:read,tickets:write', parseScopes)
    .requiredOption('--expires <when>', 'a time (2027-01-31T00:00:00Z) or a duration (90d, 12h)', parseExpiry)
    .option('--events <ids>', 'only for these events, separated by commas', parseIds);
  actionCommand(
    'revoke',
    (actions) => actions.revokeAccessAction,
    ({ id, name }) => `revoked ${id} of ${name}`,
  )
    .description('end a session, or revoke a token, at once')
    .argument('<accessId>', 'its id', parseText);
  const rowOf = ({ id, kind, name, createdAt, expiresAt, scopes, eventIds }: OpenAccess) => {
    const limits = { scopes: scopes?.join(', ') ?? null, events: scopes && eventsText(eventIds) };
    return { id, kind, name, createdAt, expiresAt, ...limits };
  };
  const list = (all: OpenAccess[]) => tableOf(all.map(rowOf));
  queryCommands(access, cli, loadOperations)('list', (operations) => operations.accessList, list).description(
    'list open sessions and tokens, newest first',
  );
}

const parseIds = (ids: string) => ids.split(',').map((id) => parseId(id.trim()));
const parseScopes = (scopes: string) => scopes.split(',').map((scope) => scope.trim());

const eventsText = (eventIds: number[] | null) => eventIds?.join(', ') ?? 'all';

/** Returns an operator as a row: the roles of named events as in `1: operator, 7: viewer`. */
const operatorRow = ({ eventRoles, ...operator }: ListedOperator) => ({
  ...fieldsOf(operator),
  events: eventRoles.map(({ eventId, role }) => `${eventId}: ${role}`).join(', ') || null,
});

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
    .option('--event <eventId>', 'only changes of this event', parseId)
    .option('--actor <name>', 'only changes by this operator, by token:<name> or by partner:<id>', parseText)
    .option('--action <name>', 'only changes of this kind, e.g. ticket.update', parseText)
    .option('--after <cursor>', 'only changes before the one with this cursor of --json', parseText)
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
