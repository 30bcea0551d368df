import { Type } from '@sinclair/typebox';
import { Limit, readAuditLog, text } from '@floodgate/audit';
import * as actions from './actions.ts';
import { operationsOn } from './operations.ts';
import { listProcesses } from './processes.ts';

const access = operationsOn('access');
const queue = operationsOn('queue');
const audit = operationsOn('audit');

export const operatorOperations = [
  access.reads('GET /operators', 'List operators', 'operatorList', {}, actions.listOperators),
  access.performs('POST /operators', 'Add an operator', actions.createOperatorAction),
  access.performs(
    'PATCH /operators/{name}',
    'Change the given settings of an operator',
    actions.updateOperatorAction,
  ),
  access.performs('POST /operators/{name}/reset-password', 'Set a new password', actions.resetPasswordAction),
  access.performs(
    'POST /operators/{name}/sign-out',
    'End the sessions of an operator',
    actions.signOutOperatorAction,
  ),
  access.reads('GET /access', 'List open sessions and tokens', 'accessList', {}, actions.listAccess),
  access.performs('POST /tokens', 'Issue a token to a machine', actions.createTokenAction),
  access.performs('DELETE /access/{accessId}', 'End a session or revoke a token', actions.revokeAccessAction),
];

const Selection = {
  since: Type.Optional(Type.Date({ description: 'a time with an offset' })),
  subject: Type.Optional(text(1, 100)),
  limit: Limit,
};

export const processOperations = [
  queue.reads('GET /processes', 'List the running processes', 'processList', {}, listProcesses),
];

export const auditOperations = [
  audit.reads('GET /audit', 'List changes, newest first', 'auditList', Selection, (db, selection) =>
    readAuditLog(db, { limit: 50, ...selection }),
  ),
];
