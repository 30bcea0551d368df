import { Type } from '@sinclair/typebox';
import { defineAction, Id, instantOrNull, Name, text, whole } from '@floodgate/audit';
import { isEmailAddress } from '@floodgate/contract';
import { countSent, queueFollowUps } from '@floodgate/deliveries';
import { Failure } from '@floodgate/service/failure';
import {
  CONFIRMATION,
  createEvent,
  EVENT_UPDATED,
  findEvent,
  grantEvent,
  moveEvent,
  revokeEvent,
  settingsOf,
  updateEvent,
  type Event,
} from './events.ts';

const LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** One of these words. */
const oneOf = <Word extends string>(...words: Word[]) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description: LIST.format(words) },
  );

const timeOrNone = Type.Optional(instantOrNull('a time, or none'));

/** Words, or null for none. */
const textOrNone = (maximum: number) =>
  Type.Optional(
    Type.Union([text(1, maximum), Type.Null()], { description: `1 to ${maximum} characters, or none` }),
  );

/** Adds an event. Two may share a prefix, since a pass reference names its event; `prefixIsShared` says that they do. */
export const createEventAction = defineAction({
  name: 'event.create',
  input: Type.Object({
    name: Name,
    passPrefix: Type.String({
      pattern: '^[A-Z][A-Z0-9]{1,7}$',
      description: '2 to 8 of A–Z and 0–9, starting with a letter',
    }),
    mode: Type.Optional(oneOf('live', 'test')),
    duplicatePolicy: oneOf('allow', 'reject', 'return_existing'),
    duplicateScope: Type.Optional(oneOf('event', 'ticket')),
    cancelUntil: timeOrNone,
  }),
  run: async (transaction, { mode = 'live', ...input }, note) => {
    const event = await createEvent(transaction, { ...input, mode });
    note(`event:${event.id}`, { after: { ...input, mode, ref: event.ref } });
    return event;
  },
});

const ORDER_RULE = 'the event must start before it ends';

/** Changes the given settings of an event, and leaves the rest. Returns also how many e-mails with an old time or place were sent. */
export const updateEventAction = defineAction({
  name: 'event.update',
  input: Type.Object({
    eventId: Id,
    cancelUntil: timeOrNone,
    startsAt: timeOrNone,
    endsAt: timeOrNone,
    venue: textOrNone(255),
    timeZone: textOrNone(64),
    language: Type.Optional(oneOf('en', 'de')),
    replyTo: textOrNone(254),
  }),
  check: ({ eventId: _eventId, ...settings }): Record<string, string> => {
    const { timeZone, replyTo } = settings;
    if (Object.values(settings).every((value) => value === undefined))
      return { eventId: 'nothing to change; give at least one detail' };
    return {
      ...(timeZone && !isTimeZone(timeZone) && { timeZone: 'a time zone such as Europe/Berlin, or none' }),
      ...(replyTo && !isEmailAddress(replyTo) && { replyTo: 'an e-mail address, or none' }),
    };
  },
  run: async (transaction, { eventId, ...settings }, note) => {
    const { before, after } = await updateEvent(transaction, eventId, settings);
    // Checked after the update: a concurrent change of the other time has waited for it.
    if (after.startsAt && after.endsAt && after.startsAt >= after.endsAt) throw new Failure(ORDER_RULE);
    note(`event:${eventId}`, { before: settingsOf(before), after: settingsOf(after) });
    const isMoved = placeOf(before) !== placeOf(after);
    const confirmations = { shardId: after.shardId, eventId, kind: CONFIRMATION };
    return { ...after, outdatedEmails: isMoved ? await countSent(transaction, confirmations) : 0 };
  },
});

const placeOf = ({ startsAt, endsAt, venue }: Event) => JSON.stringify([startsAt, endsAt, venue]);

/** Of the IANA's names: an offset such as +01:00 knows no summer. */
function isTimeZone(name: string): boolean {
  try {
    return !/^[+-]/.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/**
 * Queues an e-mail with the new time and place to every registration whose confirmation said something older. Repeated without a
 * further change, it queues nothing. Perform it after the change is committed: every confirmation that was not begun before then says
 * the new time and place by itself.
 */
export const notifyHoldersAction = defineAction({
  name: 'event.notify-holders',
  input: Type.Object({ eventId: Id }),
  run: async (transaction, { eventId }, note) => {
    const { shardId, revision } = await findEvent(transaction, eventId);
    const updates = { shardId, eventId, kind: EVENT_UPDATED };
    const notified = await queueFollowUps(transaction, updates, { after: CONFIRMATION, revision });
    if (notified > 0) note(`event:${eventId}`, { after: { revision, notified } });
    return { eventId, notified };
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
    if (from !== shardId) note(`event:${eventId}`, { before: { shardId: from }, after: { shardId } });
    return { eventId, shardId, from };
  },
});
