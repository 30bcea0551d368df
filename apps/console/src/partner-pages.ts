import { PARTNER_COLUMNS } from '@floodgate/partners/console';
import type { FastifyInstance } from 'fastify';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext } from './operations.ts';
import { Refusal } from './principals.ts';
import { actions, cellsOf, fields, link, table, together } from './view.ts';

/** Adds the pages of partners. */
export function addPartnerPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context, false);
  add('/partners', ['partners:read'], showPartners);
  add('/partners/:partnerId', ['partners:read'], showPartner);
}

const showPartners: Show = async ({ operations, read, action }) => [
  'Partners',
  actions(action(operations.partnerCreate, {})),
  table('Partners', await read(operations.partnerList, {}), (partner) => ({
    id: partner.id,
    partner: link(`/partners/${partner.id}`, partner.name),
    ...cellsOf(partner, ...PARTNER_COLUMNS),
  })),
];

const showPartner: Show = async ({ operations, params: { partnerId }, read, action }) => {
  const partners = await read(operations.partnerList, {});
  const partner = partners?.find(({ id }) => String(id) === partnerId);
  if (!partner) throw new Refusal(404, 'No such partner');
  return [
    `Partner ${partnerId}: ${partner.name}`,
    fields(cellsOf(partner, 'id', 'name', ...PARTNER_COLUMNS)),
    actions(
      action(operations.partnerContact, { partnerId }),
      action(operations.partnerLimit, { partnerId }),
      action(operations.partnerWeigh, { partnerId }),
      action(operations.partnerDisable, { partnerId }),
    ),
    table('Keys', await read(operations.keyList, { partnerId }), (key) => ({
      ...cellsOf(key, 'keyId', 'mode', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt', 'state'),
      actions: together(
        action(operations.keyRotate, { keyId: key.keyId, overlapMs: 86_400_000 }, 'Rotate'),
        action(operations.keyRevoke, { keyId: key.keyId }, 'Revoke'),
      ),
    })),
    actions(action(operations.keyIssue, { partnerId })),
  ];
};
