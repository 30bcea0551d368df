import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { performs, reads } from '@floodgate/operators';
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

export const partnerOperations = [
  reads(['GET /partners', 'partners:read', 'List partners'], 'partnerList', Type.Object({}), ({ db }) =>
    listPartners(db),
  ),
  performs(['POST /partners', 'partners:write', 'Add a partner'], createPartnerAction),
  performs(
    ['PUT /partners/{partnerId}/contact', 'partners:write', 'Set the contact of a partner'],
    contactPartnerAction,
  ),
  performs(
    ['PUT /partners/{partnerId}/limit', 'partners:write', "Limit a partner's requests"],
    limitPartnerAction,
  ),
  performs(
    [
      'PUT /partners/{partnerId}/weight',
      'partners:write',
      "Set a partner's share if partners compete for seats",
    ],
    weighPartnerAction,
  ),
  performs(
    ['PUT /partners/{partnerId}/disabled', 'partners:write', 'Disable a partner, or enable it again'],
    disablePartnerAction,
  ),
  reads(
    ['GET /keys', 'partners:read', 'List keys, never their secrets'],
    'keyList',
    Type.Object({ partnerId: Type.Optional(Id) }),
    ({ db }, { partnerId }) => listKeys(db, partnerId),
  ),
  performs(['POST /partners/{partnerId}/keys', 'partners:write', 'Issue a secret key'], issueKeyAction),
  performs(['POST /keys/{keyId}/rotate', 'partners:write', 'Issue a successor to a key'], rotateKeyAction),
  performs(['DELETE /keys/{keyId}', 'partners:write', 'Revoke a key'], revokeKeyAction),
];
