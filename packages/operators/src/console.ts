import { Type } from '@sinclair/typebox';
import { CURSOR_PATTERN, Id, Limit, Name, readAuditLog, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import * as actions from './actions.ts';
import { assertEvents, grantOperatorAction, listOperatorsOf, revokeOperatorAction } from './event-roles.ts';
import { operationsOn } from './operations.ts';
import { listProcesses } from './processes.ts';
import { createTokenAction, listAccess, revokeAccessAction } from './tokens.ts';

const { actionOperation, queryOperation } = operationsOn('access');
const queue = operationsOn('queue');
const audit = operationsOn('audit');

const Selection = Type.Object({
  since: Type.Optional(Type.Date({ description: 'a time with an offset' })),
  subject: Type.Optional(text(1, 100)),
  eventId: typedAs('--event', Type.Optional(Id)),
  /** An operator's name, "token:deploys" or "partner:7". */
  actor: Type.Optional(text(1, 255)),
  /** "ticket.update". */
  action: Type.Optional(text(1, 100)),
  after: Type.Optional(Type.String({ pattern: CURSOR_PATTERN, description: 'the cursor of the last entry' })),
  limit: Limit,
});

/** The roles of operators for one event. The owner of an event decides about them. */
const rolesOfEvents = {
  eventOperators: queryOperation(
    'GET /events/{eventId}/operators',
    'List the operators with a role for an event',
    'eventOperators',
    Type.Object({ eventId: Id }),
    async (db, { eventId }) => {
      await assertEvents(db, [eventId]);
      return listOperatorsOf(db, eventId);
    },
  ),
  operatorGrant: actionOperation(
    'PUT /events/{eventId}/operators/{name}',
    'Give an operator a role for an event',
    grantOperatorAction,
  ),
  operatorRevoke: actionOperation(
    'DELETE /events/{eventId}/operators/{name}',
    'Take the role of an operator for an event',
    revokeOperatorAction,
  ),
};

/** Sessions of operators, and tokens of machines. */
const sessions = {
  accessList: queryOperation(
    'GET /access',
    'List open sessions and tokens',
    'accessList',
    Type.Object({}),
    listAccess,
  ),
  tokenCreate: actionOperation('POST /tokens', 'Issue a token to a machine', createTokenAction, {
    secret: 'token',
  }),
  accessRevoke: actionOperation(
    'DELETE /access/{accessId}',
    'End a session or revoke a token',
    revokeAccessAction,
  ),
};

export const operatorOperations = {
  processList: queue.queryOperation(
    'GET /processes',
    'List the running processes',
    'processList',
    Type.Object({}),
    listProcesses,
  ),
  auditList: audit.listOperation(
    'GET /audit',
    'List changes, newest first',
    'auditList',
    Selection,
    (db, { eventId, ...selection }, { events }) =>
      readAuditLog(db, { limit: 50, ...selection, events: eventId === undefined ? events : [eventId] }),
  ),
  operatorList: queryOperation(
    'GET /operators',
    'List operators',
    'operatorList',
    Type.Object({}),
    actions.listOperators,
  ),
  operatorShow: queryOperation(
    'GET /operators/{name}',
    'Show an operator and its roles',
    'operatorShow',
    Type.Object({ name: Name }),
    (db, { name }) => actions.findOperator(db, name),
  ),
  operatorCreate: actionOperation('POST /operators', 'Add an operator', actions.createOperatorAction, {
    secret: 'password',
  }),
  operatorUpdate: actionOperation(
    'PATCH /operators/{name}',
    'Change the given settings of an operator',
    actions.updateOperatorAction,
  ),
  operatorResetPassword: actionOperation(
    'POST /operators/{name}/reset-password',
    'Set a new password',
    actions.resetPasswordAction,
    { secret: 'password' },
  ),
  operatorSignOut: actionOperation(
    'POST /operators/{name}/sign-out',
    'End the sessions of an operator',
    actions.signOutOperatorAction,
  ),
  ...rolesOfEvents,
  ...sessions,
};
