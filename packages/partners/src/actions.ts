import { Type } from '@sinclair/typebox';
import { defineAction, Id, Name, whole } from '@floodgate/audit';
import { Failure } from '@floodgate/service/failure';
import { createPartner } from './create-partner.ts';
import { limitPartner } from './limit-partner.ts';
import { lockPartner } from './lock-partner.ts';

export { issueKeyAction, revokeKeyAction, rotateKeyAction } from './keys/actions.ts';

/** Adds a partner. */
export const createPartnerAction = defineAction({
  name: 'partner.create',
  input: Type.Object({ name: Name }),
  refusals: { partners_name_key: 'a partner of this name already exists' },
  run: async (transaction, { name }) => {
    const partner = await createPartner(transaction, name);
    return { result: partner, changes: [{ subject: `partner:${partner.id}`, after: { name } }] };
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
  run: async (transaction, { partnerId, requestsPerSecond }) => {
    const before = await lockPartner(transaction, partnerId);
    if (!before) throw new Failure('no such partner');
    await limitPartner(transaction, partnerId, requestsPerSecond);
    const change = { subject: `partner:${partnerId}`, before, after: { requestsPerSecond } };
    return { result: { partnerId, requestsPerSecond }, changes: [change] };
  },
});
