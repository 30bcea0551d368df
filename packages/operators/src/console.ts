import { Type } from '@sinclair/typebox';
import { Limit, readAuditLog, text } from '@floodgate/audit';
import {
  createOperatorAction,
  createTokenAction,
  listAccess,
  listOperators,
  resetPasswordAction,
  revokeAccessAction,
  signOutOperatorAction,
  updateOperatorAction,
} from './actions.ts';
import { operationsOn } from './operations.ts';
import { listProcesses } from './processes.ts';

const { performs, reads } = operationsOn('access');
const queue = operationsOn('queue');
const audit = operationsOn('audit');

export const operatorOperations = [
  reads('GET /operators', 'List operators', 'operatorList', {}, listOperators),
  performs('POST /operators', 'Add an operator', createOperatorAction),
  performs('PATCH /operators/{name}', 'Change the given settings of an operator', updateOperatorAction),
  performs('POST /operators/{name}/reset-password', 'Set a new password', resetPasswordAction),
  performs('POST /operators/{name}/sign-out', 'End the sessions of an operator', signOutOperatorAction),
  reads('GET /access', 'List open sessions and tokens', 'accessList', {}, listAccess),
  performs('POST /tokens', 'Issue a token to a machine', createTokenAction),
  performs('DELETE /access/{accessId}', 'End a session or revoke a token', revokeAccessAction),
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
