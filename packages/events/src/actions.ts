import { Type } from '@sinclair/typebox';
import { defineAction, Id, instantOrNull, Name, whole } from '@floodgate/audit';
import { Failure } from '@floodgate/service/failure';
import { createEvent, grantEvent, revokeEvent, updateEvent } from './events.ts';
import { moveEvent } from './shards.ts';

export { perform } from '@floodgate/audit';

const CancelUntil = instantOrNull('a time, or none');

/** Adds an event. Two may share a prefix, since a pass reference names its event; `prefixIsShared` says that they do. */
export const createEventAction = defineAction({
  name: 'event.create',
  input: Type.Object({
    name: Name,
    passPrefix: Type.String({
      pattern: '^[A-Z][A-Z0-9]{1,7}$',
      description: '2 to 8 of A–Z and 0–9, starting with a letter',
    }),
    mode: Type.Optional(
      Type.Union([Type.Literal('live'), Type.Literal('test')], { description: 'live or test' }),
    ),
    duplicatePolicy: Type.Union(
      [Type.Literal('allow'), Type.Literal('reject'), Type.Literal('return_existing')],
      { description: 'allow, reject or return_existing' },
    ),
    duplicateScope: Type.Optional(
      Type.Union([Type.Literal('event'), Type.Literal('ticket')], { description: 'event or ticket' }),
    ),
    cancelUntil: Type.Optional(CancelUntil),
  }),
  run: async (transaction, input, note) => {
    const event = await createEvent(transaction, input);
    note(`event:${event.id}`, { after: { ...input, ref: event.ref } });
    return event;
  },
});

export const updateEventAction = defineAction({
  name: 'event.update',
  input: Type.Object({ eventId: Id, cancelUntil: CancelUntil }),
  run: async (transaction, { eventId, cancelUntil }, note) => {
    const change = await updateEvent(transaction, eventId, { cancelUntil });
    if (!change) throw new Failure('no such event');
    const settingsOf = ({ cancelUntil: until }: typeof change.after) => ({ cancelUntil: until });
    note(`event:${eventId}`, { before: settingsOf(change.before), after: settingsOf(change.after) });
    return change.after;
  },
});

const Grant = Type.Object({ eventId: Id, partnerId: Id });

export const grantEventAction = defineAction({
  name: 'event.grant',
  input: Grant,
  refusals: {
    event_grants_partner_id_fkey: 'no such partner',
    event_grants_event_id_fkey: 'no such event',
  },
  run: async (transaction, { eventId, partnerId }, note) => {
    const isNew = await grantEvent(transaction, partnerId, eventId);
    if (isNew) note(`event:${eventId}`, { after: { grantedTo: partnerId } });
    return { eventId, partnerId, granted: true };
  },
});

export const revokeEventAction = defineAction({
  name: 'event.revoke',
  input: Grant,
  run: async (transaction, { eventId, partnerId }, note) => {
    const wasOpen = await revokeEvent(transaction, partnerId, eventId);
    if (!wasOpen) throw new Failure(`event ${eventId} was not open to partner ${partnerId}`);
    note(`event:${eventId}`, { before: { grantedTo: partnerId } });
    return { eventId, partnerId, granted: false };
  },
});

/** Moves an event that nobody has registered for to another shard. */
export const moveEventAction = defineAction({
  name: 'event.move',
  input: Type.Object({ eventId: Id, shardId: whole(0, 2_147_483_647) }),
  run: async (transaction, { eventId, shardId }, note) => {
    const from = await moveEvent(transaction, eventId, shardId);
    if (from === undefined) throw new Failure('no such event');
    if (from !== shardId) note(`event:${eventId}`, { before: { shardId: from }, after: { shardId } });
    return { eventId, shardId, from };
  },
});
