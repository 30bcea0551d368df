import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import { NotFound } from '@floodgate/service/failure';
import * as actions from './actions.ts';
import { listKeys } from './keys.ts';
import { listPartners } from './partners.ts';

const { performs, reads } = operationsOn('partners');

export const partnerOperations = [
  reads('GET /partners', 'List partners', 'partnerList', {}, listPartners),
  performs('POST /partners', 'Add a partner', actions.createPartnerAction),
  performs('PUT /partners/{partnerId}/contact', 'Set the contact of a partner', actions.contactPartnerAction),
  performs('PUT /partners/{partnerId}/limit', "Limit a partner's requests", actions.limitPartnerAction),
  performs(
    'PUT /partners/{partnerId}/weight',
    "Set a partner's share if partners compete for seats",
    actions.weighPartnerAction,
  ),
  performs(
    'PUT /partners/{partnerId}/disabled',
    'Disable a partner, or enable it again',
    actions.disablePartnerAction,
  ),
  reads(
    'GET /keys',
    'List keys, never their secrets',
    'keyList',
    { partnerId: Type.Optional(Id) },
    async (db, { partnerId }) => {
      if (partnerId !== undefined && !(await listPartners(db)).some(({ id }) => id === partnerId))
        throw new NotFound('no such partner');
      return listKeys(db, partnerId);
    },
  ),
  performs('POST /partners/{partnerId}/keys', 'Issue a secret key', actions.issueKeyAction),
  performs('POST /keys/{keyId}/rotate', 'Issue a successor to a key', actions.rotateKeyAction),
  performs('DELETE /keys/{keyId}', 'Revoke a key', actions.revokeKeyAction),
];
