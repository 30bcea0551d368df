import { Type } from '@sinclair/typebox';
import { operationsOn } from '@floodgate/operators';
import { rotatePassKeyAction, withdrawPassKeyAction } from './actions.ts';
import { listPassKeys } from './keys.ts';

const { performs, reads } = operationsOn('passes');

export const passOperations = [
  reads('GET /passes/keys', 'List the keys that sign passes', 'passKeyList', Type.Object({}), ({ db }) =>
    listPassKeys(db),
  ),
  performs('POST /passes/keys', 'Create a new signing key', rotatePassKeyAction),
  performs(
    'DELETE /passes/keys/{keyId}',
    'Invalidate all passes that a retired key signed',
    withdrawPassKeyAction,
  ),
];
