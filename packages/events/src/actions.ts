import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Id, instantOrNull, Name, oneOf, text, whole } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { isEmailAddress, normalizeEmail } from '@floodgate/contract';
import { countSent, queueFollowUps } from '@floodgate/deliveries';
import { Failure } from '@floodgate/service/failure';
import {
  CONFIRMATION,
  archiveEvent,
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
import { assertCurrencyMayChange } from './change-currency.ts';
import { findOutdated } from './outdated.ts';
import { isCurrency } from './currency.ts';

const POLICIES = ['allow', 'reject', 'return_existing'] as const;

const timeOrNone = Type.Optional(instantOrNull('a time, or none'));

/** Text, or null for none. */
const textOrNone = (maximum: number) =>
  Type.Optional(
    Type.Union([text(1, maximum), Type.Null()], { description: `1 to ${maximum} characters, or none` }),
  );

const CURRENCY_RULE =
  'the ISO 4217 code of a currency, such as EUR, or none; prices have the decimals of the currency, at most 2';

const currencyOrNone = Type.Optional(
  Type.Union([Type.String({ pattern: '^[A-Z]{3}$' }), Type.Null()], { description: CURRENCY_RULE }),
);

const checkCurrency = ({ currency = null }: { currency?: string | null }): Record<string, string> => ({
  ...(currency !== null && !isCurrency(currency) && { currency: CURRENCY_RULE }),
});

/**
 * Creates an event. Events can share a prefix, because a pass reference contains the event id.
 * `prefixIsShared` reports this.
 */
export const createEventAction = defineAction({
  name: 'event.create',
  input: Type.Object({
    name: Name,
    passPrefix: Type.String({
      pattern: '^[A-Z][A-Z0-9]{1,7}$',
      description: '2 to 8 of A–Z and 0–9, starting with a letter',
      option: '--prefix',
    }),
    mode: Type.Optional(oneOf(['live', 'test'], 'live or test')),
    duplicatePolicy: typedAs('--duplicates', oneOf(POLICIES, 'allow, reject or return_existing')),
    duplicateScope: typedAs('--duplicates-of', Type.Optional(oneOf(['event', 'ticket'], 'event or ticket'))),
    cancelUntil: timeOrNone,
    currency: currencyOrNone,
  }),
  check: checkCurrency,
  run: async (db, { mode = 'live', ...input }, note) => {
    const event = await createEvent(db, { ...input, mode });
    note(`event:${event.id}`, { after: { ...input, mode, ref: event.ref } });
    return event;
  },
});

const ORDER_RULE = 'the event must start before it ends';

/**
 * Changes the given settings of an event. Also returns the number of e-mails that were sent with an old time,
 * time zone or place.
 */
export const updateEventAction = defineAction({
  name: 'event.update',
  input: Type.Object({
    eventId: Id,
    name: Type.Optional(Name),
    cancelUntil: timeOrNone,
    startsAt: typedAs('--starts', timeOrNone),
    endsAt: typedAs('--ends', timeOrNone),
    venue: textOrNone(255),
    timeZone: textOrNone(64),
    language: Type.Optional(oneOf(['en', 'de'], 'en or de')),
    replyTo: textOrNone(254),
    currency: currencyOrNone,
    mailOperatorCancels: Type.Optional(Flag),
    mailPartnerCancels: Type.Optional(Flag),
  }),
  prepare: (given) => {
    const { replyTo } = given;
    return typeof replyTo === 'string' ? { ...given, replyTo: normalizeEmail(replyTo) } : given;
  },
  check: (input): Record<string, string> => {
    const { timeZone, replyTo } = input;
    if (Object.keys(input).length === 1) return { eventId: 'nothing to change; give at least one setting' };
    return {
      ...checkCurrency(input),
      ...(timeZone && !isTimeZone(timeZone) && { timeZone: 'a time zone such as Europe/Berlin, or none' }),
      ...(replyTo && !isEmailAddress(replyTo) && { replyTo: 'an e-mail address, or none' }),
    };
  },
  run: async (db, { eventId, ...settings }, note) => {
    const { before, after } = await updateEvent(db, eventId, settings);
    // Checked after the update: a concurrent change of the other time has waited for it.
    if (after.startsAt && after.endsAt && after.startsAt >= after.endsAt) throw new Failure(ORDER_RULE);
    await assertCurrencyMayChange(db, before, after);
    const isMoved = placeOf(before) !== placeOf(after);
    const confirmations = { shardId: after.shardId, eventId, kind: CONFIRMATION };
    const outdatedEmails = isMoved ? await countSent(db, confirmations) : 0;
    // Before the settings, because the newest entry of a change is the one that can be taken back.
    if (outdatedEmails > 0) note(`event:${eventId}`, { after: { outdatedEmails } });
    note(`event:${eventId}`, { before: settingsOf(before), after: settingsOf(after) });
    return { ...after, outdatedEmails };
  },
});

/** The settings that attendees have in their e-mails and calendars. They contain the zone if they contain a time. */
const placeOf = ({ name, startsAt, endsAt, venue, timeZone }: Event) =>
  JSON.stringify([name, startsAt, endsAt, venue, startsAt && timeZone]);

/** Accepts names of the IANA database. An offset such as +01:00 has no daylight saving time. */
function isTimeZone(name: string) {
  try {
    return !/^[+-]/.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/**
 * Queues an e-mail with the new time and place to every registration whose confirmation contained older ones.
 * Repeated without a further change, it queues nothing. Perform it after the change is committed:
 * confirmations that start later contain the new time and place already.
 */
export const notifyHoldersAction = defineAction({
  name: 'event.notify-holders',
  input: Type.Object({ eventId: Id }),
  run: async (db, { eventId }, note) => {
    const { shardId, revision } = await findEvent(db, eventId);
    const updates = { shardId, eventId, kind: EVENT_UPDATED };
    const notified = await queueFollowUps(db, updates, { after: CONFIRMATION, revision });
    const isExpected = notified > 0 || (await findOutdated(db, eventId)) !== null;
    if (isExpected) note(`event:${eventId}`, { after: { revision, notified } });
    return { eventId, notified };
  },
});

const defineArchive = (name: string, isArchived: boolean) =>
  defineAction({
    name,
    input: Type.Object({ eventId: Id }),
    run: async (db, { eventId }, note) => {
      const wasArchived = await archiveEvent(db, eventId, isArchived);
      if (wasArchived !== isArchived)
        note(`event:${eventId}`, { before: { archived: wasArchived }, after: { archived: isArchived } });
      return { eventId, archived: isArchived };
    },
  });

/** Hides an event from lists. Its registrations, e-mails and webhooks stay as they are. */
export const archiveEventAction = defineArchive('event.archive', true);
export const restoreEventAction = defineArchive('event.restore', false);

const Grant = Type.Object({ eventId: Id, partnerId: Id });

export const grantEventAction = defineAction({
  name: 'event.grant',
  input: Grant,
  refusals: {
    event_grants_partner_id_fkey: 'no such partner',
    event_grants_event_id_fkey: 'no such event',
  },
  run: async (db, { eventId, partnerId }, note) => {
    const isNew = await grantEvent(db, partnerId, eventId);
    if (isNew) note(`event:${eventId}`, { after: { grantedTo: partnerId } });
    return { eventId, partnerId, granted: true };
  },
});

export const revokeEventAction = defineAction({
  name: 'event.revoke',
  input: Grant,
  run: async (db, { eventId, partnerId }, note) => {
    const wasOpen = await revokeEvent(db, partnerId, eventId);
    if (!wasOpen) throw new Failure(`event ${eventId} was not open to partner ${partnerId}`);
    note(`event:${eventId}`, { before: { grantedTo: partnerId } });
    return { eventId, partnerId, granted: false };
  },
});

/** Moves an event without registrations to another shard. */
export const moveEventAction = defineAction({
  name: 'event.move',
  input: Type.Object({ eventId: Id, shardId: whole(0, 2_147_483_647) }),
  run: async (db, { eventId, shardId }, note) => {
    const from = await moveEvent(db, eventId, shardId);
    if (from !== shardId) note(`event:${eventId}`, { before: { shardId: from }, after: { shardId } });
    return { eventId, shardId, from };
  },
});
