import { Type } from '@sinclair/typebox';
import { defineAction, Id, instantOrNull, Name, text, whole } from '@floodgate/audit';
import { isEmailAddress } from '@floodgate/contract';
import { Failure } from '@floodgate/service/failure';
import {
  createEvent,
  findWholeEvent,
  grantEvent,
  LANGUAGES,
  revokeEvent,
  updateEvent,
  type EventDetails,
} from './events.ts';
import { queueEventUpdates } from './holders.ts';
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

const ORDER_RULE = 'the event must start before it ends';

/** Words, or null for none. */
const textOrNull = (maximum: number) =>
  Type.Union([text(1, maximum), Type.Null()], { description: `1 to ${maximum} characters, or none` });

/** Changes the given details of an event, and leaves the rest. */
export const describeEventAction = defineAction({
  name: 'event.describe',
  input: Type.Object({
    eventId: Id,
    startsAt: Type.Optional(instantOrNull('a time, or none')),
    endsAt: Type.Optional(instantOrNull('a time, or none')),
    venue: Type.Optional(textOrNull(255)),
    timeZone: Type.Optional(textOrNull(64)),
    language: Type.Optional(
      Type.Union(
        LANGUAGES.map((language) => Type.Literal(language)),
        { description: LANGUAGES.join(' or ') },
      ),
    ),
    replyTo: Type.Optional(textOrNull(254)),
  }),
  check: ({ eventId: _eventId, ...details }) => {
    if (Object.values(details).every((value) => value === undefined))
      return { eventId: 'nothing to change; give at least one detail' };
    return checkDetails(details);
  },
  run: async (transaction, { eventId, ...details }, note) => {
    const change = await updateEvent(transaction, eventId, details);
    if (!change) throw new Failure('no such event');
    const [before, after] = [detailsOf(change.before), detailsOf(change.after)];
    // Checked after the update: a concurrent change of the other time has waited for it.
    if (after.startsAt && after.endsAt && after.startsAt >= after.endsAt) throw new Failure(ORDER_RULE);
    note(`event:${eventId}`, { before, after });
    return { ...change.after, isMoved: isMoved(change.before, change.after) };
  },
});

/**
 * Sends everybody who has had an e-mail with their pass an update with the event's time and place. Repeated without a further change,
 * it sends nothing.
 */
export const notifyHoldersAction = defineAction({
  name: 'event.notify-holders',
  input: Type.Object({ eventId: Id }),
  run: async (transaction, { eventId }, note) => {
    const event = await findWholeEvent(transaction, eventId);
    if (!event) throw new Failure('no such event');
    const queued = await queueEventUpdates(transaction, event);
    if (queued > 0) note(`event:${eventId}`, { after: { revision: event.revision, notified: queued } });
    return { eventId, notified: queued };
  },
});

const isMoved = (before: Described, after: Described) =>
  before.startsAt?.getTime() !== after.startsAt?.getTime() ||
  before.endsAt?.getTime() !== after.endsAt?.getTime() ||
  before.venue !== after.venue;

function checkDetails({ timeZone, replyTo }: Partial<EventDetails>): Record<string, string> {
  return {
    ...(typeof timeZone === 'string' &&
      !isTimeZone(timeZone) && { timeZone: 'a time zone such as Europe/Berlin, or none' }),
    ...(typeof replyTo === 'string' && !isEmailAddress(replyTo) && { replyTo: 'an e-mail address, or none' }),
  };
}

/** Of the IANA's names: an offset such as +01:00 knows no summer. */
function isTimeZone(name: string): boolean {
  try {
    return !/^[+-]/.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

function detailsOf({ startsAt, endsAt, venue, timeZone, language, replyTo }: Described) {
  return { startsAt, endsAt, venue, timeZone, language, replyTo };
}

type Described = NonNullable<Awaited<ReturnType<typeof updateEvent>>>['after'];

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
