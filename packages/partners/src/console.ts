import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import {
  contactPartnerAction,
  createPartnerAction,
  disablePartnerAction,
  issueKeyAction,
  limitPartnerAction,
  revokeKeyAction,
  rotateKeyAction,
  weighPartnerAction,
} from './actions.ts';
import { listKeys } from './keys.ts';
import { listPartners } from './partners.ts';

const { performs, reads } = operationsOn('partners');

export const partnerOperations = [
  reads('GET /partners', 'List partners', 'partnerList', Type.Object({}), ({ db }) => listPartners(db)),
  performs('POST /partners', 'Add a partner', createPartnerAction),
  performs('PUT /partners/{partnerId}/contact', 'Set the contact of a partner', contactPartnerAction),
  performs('PUT /partners/{partnerId}/limit', "Limit a partner's requests", limitPartnerAction),
  performs(
    'PUT /partners/{partnerId}/weight',
    "Set a partner's share if partners compete for seats",
    weighPartnerAction,
  ),
  performs(
    'PUT /partners/{partnerId}/disabled',
    'Disable a partner, or enable it again',
    disablePartnerAction,
  ),
  reads(
    'GET /keys',
    'List keys, never their secrets',
    'keyList',
    Type.Object({ partnerId: Type.Optional(Id) }),
    ({ db }, { partnerId }) => listKeys(db, partnerId),
  ),
  performs('POST /partners/{partnerId}/keys', 'Issue a secret key', issueKeyAction),
  performs('POST /keys/{keyId}/rotate', 'Issue a successor to a key', rotateKeyAction),
  performs('DELETE /keys/{keyId}', 'Revoke a key', revokeKeyAction),
];
