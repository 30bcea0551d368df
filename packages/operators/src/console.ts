import { Type } from '@sinclair/typebox';
import { readAuditLog, text, whole } from '@floodgate/audit';
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
import { performs, reads } from './operations.ts';
import { listProcesses } from './processes.ts';

const None = Type.Object({});

export const operatorOperations = [
  reads(['GET /operators', 'access:read', 'List operators'], 'operatorList', None, ({ db }) =>
    listOperators(db),
  ),
  performs(['POST /operators', 'access:write', 'Add an operator'], createOperatorAction),
  performs(
    ['PATCH /operators/{name}', 'access:write', 'Change the given settings of an operator'],
    updateOperatorAction,
  ),
  performs(
    ['POST /operators/{name}/reset-password', 'access:write', 'Set a new password'],
    resetPasswordAction,
  ),
  performs(
    ['POST /operators/{name}/sign-out', 'access:write', 'End the sessions of an operator'],
    signOutOperatorAction,
  ),
  reads(['GET /access', 'access:read', 'List open sessions and tokens'], 'accessList', None, ({ db }) =>
    listAccess(db),
  ),
  performs(['POST /tokens', 'access:write', 'Issue a token to a machine'], createTokenAction),
  performs(
    ['DELETE /access/{accessId}', 'access:write', 'End a session or revoke a token'],
    revokeAccessAction,
  ),
];

const Selection = Type.Object({
  since: Type.Optional(Type.Date({ description: 'a time with an offset' })),
  subject: Type.Optional(text(1, 100)),
  limit: Type.Optional(whole(1, 1_000)),
});

export const processOperations = [
  reads(['GET /processes', 'queue:read', 'List the running processes'], 'processList', None, ({ db }) =>
    listProcesses(db),
  ),
];

export const auditOperations = [
  reads(
    ['GET /audit', 'audit:read', 'List changes, newest first'],
    'auditList',
    Selection,
    ({ db }, selection) => readAuditLog(db, { limit: 50, ...selection }),
  ),
];
