import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { listPartnerRefusals, operationsOn } from '@floodgate/operators';
import { NotFound } from '@floodgate/service/failure';
import * as actions from './actions.ts';
import { listKeys } from './keys.ts';
import { listPartners } from './partners.ts';

export { PARTNER_COLUMNS } from './columns.ts';

const { actionOperation, queryOperation } = operationsOn('partners');

export const partnerOperations = {
  partnerList: queryOperation('GET /partners', 'List partners', 'partnerList', Type.Object({}), listPartners),
  partnerCreate: actionOperation('POST /partners', 'Add a partner', actions.createPartnerAction),
  partnerContact: actionOperation(
    'PUT /partners/{partnerId}/contact',
    'Set the contact of a partner',
    actions.contactPartnerAction,
  ),
  partnerLimit: actionOperation(
    'PUT /partners/{partnerId}/limit',
    "Limit a partner's requests",
    actions.limitPartnerAction,
  ),
  partnerWeigh: actionOperation(
    'PUT /partners/{partnerId}/weight',
    "Set a partner's share if partners compete for seats",
    actions.weighPartnerAction,
  ),
  partnerDisable: actionOperation(
    'PUT /partners/{partnerId}/disabled',
    'Disable a partner, or enable it again',
    actions.disablePartnerAction,
  ),
  partnerRefusals: queryOperation(
    'GET /partners/refusals',
    'Count the refused requests of partners in the last hour by response code, the most frequent first',
    'partnerRefusals',
    Type.Object({ partnerId: typedAs('--partner', Type.Optional(Id)) }),
    (db, { partnerId }) => listPartnerRefusals(db, partnerId),
  ),
  keyList: queryOperation(
    'GET /keys',
    'List keys, never their secrets',
    'keyList',
    Type.Object({ partnerId: typedAs('--partner', Type.Optional(Id)) }),
    async (db, { partnerId }) => {
      if (partnerId !== undefined && !(await listPartners(db)).some(({ id }) => id === partnerId))
        throw new NotFound('no such partner');
      return listKeys(db, partnerId);
    },
  ),
  keyIssue: actionOperation('POST /partners/{partnerId}/keys', 'Issue a secret key', actions.issueKeyAction, {
    secret: 'secretKey',
  }),
  keyRotate: actionOperation(
    'POST /keys/{keyId}/rotate',
    'Issue a successor to a key',
    actions.rotateKeyAction,
    { secret: 'secretKey' },
  ),
  keyRevoke: actionOperation('DELETE /keys/{keyId}', 'Revoke a key', actions.revokeKeyAction),
};
