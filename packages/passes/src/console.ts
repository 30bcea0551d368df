import { Type } from '@sinclair/typebox';
import { performs, reads } from '@floodgate/operators';
import { rotatePassKeyAction, withdrawPassKeyAction } from './actions.ts';
import { listPassKeys } from './keys.ts';

export const passOperations = [
  reads(
    ['GET /passes/keys', 'passes:read', 'List the keys that sign passes'],
    'passKeyList',
    Type.Object({}),
    ({ db }) => listPassKeys(db),
  ),
  performs(['POST /passes/keys', 'passes:write', 'Create a new signing key'], rotatePassKeyAction),
  performs(
    ['DELETE /passes/keys/{keyId}', 'passes:write', 'Invalidate all passes that a retired key signed'],
    withdrawPassKeyAction,
  ),
];
