import { Type } from '@sinclair/typebox';
import { Limit, readAuditLog, text } from '@floodgate/audit';
import * as actions from './actions.ts';
import { operationsOn } from './operations.ts';
import { listProcesses } from './processes.ts';

const { actionOperation, queryOperation } = operationsOn('access');
const queue = operationsOn('queue');
const audit = operationsOn('audit');

const Selection = Type.Object({
  since: Type.Optional(Type.Date({ description: 'a time with an offset' })),
  subject: Type.Optional(text(1, 100)),
  limit: Limit,
});

export const operatorOperations = {
  processList: queue.queryOperation(
    'GET /processes',
    'List the running processes',
    'processList',
    Type.Object({}),
    listProcesses,
  ),
  auditList: audit.queryOperation(
    'GET /audit',
    'List changes, newest first',
    'auditList',
    Selection,
    (db, selection) => readAuditLog(db, { limit: 50, ...selection }),
  ),
  operatorList: queryOperation(
    'GET /operators',
    'List operators',
    'operatorList',
    Type.Object({}),
    actions.listOperators,
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
  accessList: queryOperation(
    'GET /access',
    'List open sessions and tokens',
    'accessList',
    Type.Object({}),
    actions.listAccess,
  ),
  tokenCreate: actionOperation('POST /tokens', 'Issue a token to a machine', actions.createTokenAction, {
    secret: 'token',
  }),
  accessRevoke: actionOperation(
    'DELETE /access/{accessId}',
    'End a session or revoke a token',
    actions.revokeAccessAction,
  ),
};
