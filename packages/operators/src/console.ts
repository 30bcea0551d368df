import { Type } from '@sinclair/typebox';
import { Limit, readAuditLog, text } from '@floodgate/audit';
import * as actions from './actions.ts';
import { operationsOn } from './operations.ts';
import { listProcesses } from './processes.ts';

const { performs, reads } = operationsOn('access');
const queue = operationsOn('queue');
const audit = operationsOn('audit');

const Selection = {
  since: Type.Optional(Type.Date({ description: 'a time with an offset' })),
  subject: Type.Optional(text(1, 100)),
  limit: Limit,
};

export const operatorOperations = [
  queue.reads('GET /processes', 'List the running processes', 'processList', {}, listProcesses),
  audit.reads('GET /audit', 'List changes, newest first', 'auditList', Selection, (db, selection) =>
    readAuditLog(db, { limit: 50, ...selection }),
  ),
  reads('GET /operators', 'List operators', 'operatorList', {}, actions.listOperators),
  performs('POST /operators', 'Add an operator', actions.createOperatorAction),
  performs(
    'PATCH /operators/{name}',
    'Change the given settings of an operator',
    actions.updateOperatorAction,
  ),
  performs('POST /operators/{name}/reset-password', 'Set a new password', actions.resetPasswordAction),
  performs(
    'POST /operators/{name}/sign-out',
    'End the sessions of an operator',
    actions.signOutOperatorAction,
  ),
  reads('GET /access', 'List open sessions and tokens', 'accessList', {}, actions.listAccess),
  performs('POST /tokens', 'Issue a token to a machine', actions.createTokenAction),
  performs('DELETE /access/{accessId}', 'End a session or revoke a token', actions.revokeAccessAction),
];
