import { Type } from '@sinclair/typebox';
import { defineAction, Id, Name, whole } from '@floodgate/audit';
import { Failure } from '@floodgate/service/failure';
import { createPartner } from './create-partner.ts';
import { limitPartner } from './limit-partner.ts';

export { perform } from '@floodgate/audit';
export { issueKeyAction, revokeKeyAction, rotateKeyAction } from './keys/actions.ts';

/** Adds a partner. */
export const createPartnerAction = defineAction({
  name: 'partner.create',
  input: Type.Object({ name: Name }),
  refusals: { partners_name_key: 'a partner of this name already exists' },
  run: async (transaction, { name }, note) => {
    const partner = await createPartner(transaction, name);
    note(`partner:${partner.id}`, { after: { name } });
    return partner;
  },
});

const PerSecond = whole(1, 1_000_000);

/** Limits a partner's requests, over all API processes together; null lifts the limit. */
export const limitPartnerAction = defineAction({
  name: 'partner.limit',
  input: Type.Object({
    partnerId: Id,
    requestsPerSecond: Type.Union([PerSecond, Type.Null()], {
      description: `${PerSecond.description}, or none`,
    }),
  }),
  run: async (transaction, { partnerId, requestsPerSecond }, note) => {
    const before = await limitPartner(transaction, partnerId, requestsPerSecond);
    if (!before) throw new Failure('no such partner');
    note(`partner:${partnerId}`, { before, after: { requestsPerSecond } });
    return { partnerId, requestsPerSecond };
  },
});
