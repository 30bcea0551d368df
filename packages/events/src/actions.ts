import { Type } from '@sinclair/typebox';
import { defineAction, Id, Name } from '@floodgate/audit';
import { Failure } from '@floodgate/service/failure';
import { createEvent } from './create-event.ts';
import { grantEvent } from './grant-event.ts';
import { isPrefixShared } from './is-prefix-shared.ts';
import { revokeEvent } from './revoke-event.ts';

/** Adds an event. Two may share a prefix, since a pass reference names its event; `prefixIsShared` says that they do. */
export const createEventAction = defineAction({
  name: 'event.create',
  input: Type.Object({
    name: Name,
    passPrefix: Type.String({
      pattern: '^[A-Z][A-Z0-9]{1,7}$',
      description: '2 to 8 of A–Z and 0–9, starting with a letter',
    }),
    duplicatePolicy: Type.Union([Type.Literal('allow'), Type.Literal('reject')], {
      description: 'allow or reject',
    }),
  }),
  run: async (transaction, input) => {
    const event = await createEvent(transaction, input);
    const prefixIsShared = await isPrefixShared(transaction, event);
    const change = { subject: `event:${event.id}`, after: { ...input, ref: event.ref } };
    return { result: { ...event, prefixIsShared }, changes: [change] };
  },
});

const Grant = Type.Object({ eventId: Id, partnerId: Id });

/** Opens an event to a partner's keys. */
export const grantEventAction = defineAction({
  name: 'event.grant',
  input: Grant,
  refusals: {
    event_grants_partner_id_fkey: 'no such partner',
    event_grants_event_id_fkey: 'no such event',
  },
  run: async (transaction, { eventId, partnerId }) => {
    const isNew = await grantEvent(transaction, partnerId, eventId);
    const change = { subject: `event:${eventId}`, after: { grantedTo: partnerId } };
    return { result: { eventId, partnerId, granted: true }, changes: isNew ? [change] : [] };
  },
});

/** Closes an event to a partner's keys. */
export const revokeEventAction = defineAction({
  name: 'event.revoke',
  input: Grant,
  run: async (transaction, { eventId, partnerId }) => {
    if (!(await revokeEvent(transaction, partnerId, eventId))) {
      throw new Failure(`event ${eventId} was not open to partner ${partnerId}`);
    }
    const change = { subject: `event:${eventId}`, before: { grantedTo: partnerId } };
    return { result: { eventId, partnerId, granted: false }, changes: [change] };
  },
});
