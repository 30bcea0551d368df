import { formatPassReference } from '@floodgate/contract';
import { plainArray, readThroughCache } from '@floodgate/database';
import type { Delivery, DeliveryKind, Loaded } from '@floodgate/deliveries';
import { CONFIRMATION, findEvent, type Event, type EVENT_UPDATED } from '@floodgate/events';
import { qrPng, type PassSigner } from '@floodgate/passes';
import ical, { ICalCalendarMethod } from 'ical-generator';
import { sql } from 'kysely';
import { createFrame, type MailMessage } from '../message.ts';
import type { Sender } from '../settings.ts';
import { findRefusals, type LoadOptions } from '../suppressions.ts';
import { WORDS } from '../words.ts';

type Kind = typeof CONFIRMATION | typeof EVENT_UPDATED;

/** An attendee, with the facts that e-mails contain. */
interface Attendee {
  event: Event;
  serial: number;
  batchId?: string;
  passCode: number;
  ticketId: number;
  ticketTitle: string;
  fullName: string;
  emailAddress: string;
  seat: string | null;
}

interface RenderOptions {
  passes: Pick<PassSigner, 'tokenFor'>;
  sender: Sender;
}

/** The kind of e-mails with the pass, or of e-mails with the new time and place of an event. */
export const attendeeKind = (
  name: Kind,
  options: LoadOptions & RenderOptions,
): DeliveryKind<MailMessage, Attendee> => ({
  name,
  // The operator's switch is the journal consumer.
  consumerKind: 'mail',
  load: (deliveries) => loadAttendees(options, deliveries),
  render: createRenderer(name, options),
});

/** Loads the attendees of deliveries whose subjects are registrations of one event. Registrations that do not exist are missing. */
async function loadAttendees(
  options: LoadOptions,
  deliveries: readonly Delivery[],
): Promise<Loaded<Attendee>> {
  const event = await findEvent(options.db, deliveries[0]!.eventId);
  // With `offset 0`, Postgres looks up each row by its key.
  const { rows } = await sql<Omit<Attendee, 'event'> & { isCancelled: boolean }>`
    select r.serial, r.batch_id as "batchId", r.pass_code as "passCode", r.ticket_id as "ticketId", t.title as "ticketTitle",
      r.full_name as "fullName", r.email_address as "emailAddress", r.table_or_seat as seat,
      r.cancelled_at is not null as "isCancelled"
    from unnest(${plainArray(deliveries.map(({ subject }) => subject))}::bigint[]) as query (serial)
    cross join lateral (
      select serial, batch_id, pass_code, ticket_id, full_name, email_address, table_or_seat, cancelled_at from registrations
      where shard_id = ${event.shardId} and serial = query.serial and event_id = ${event.id}
      offset 0
    ) r
    cross join lateral (
      select title from tickets where shard_id = ${event.shardId} and id = r.ticket_id offset 0
    ) t`.execute(options.db);
  const addresses = rows.map(({ emailAddress }) => emailAddress);
  const refusals = await findRefusals(options, event.mode, addresses);
  const loaded: Loaded<Attendee> = new Map();
  for (const [index, { isCancelled, ...row }] of rows.entries()) {
    const state = isCancelled ? 'cancelled' : 'suppressed';
    const reason = isCancelled ? 'cancelled' : refusals[index];
    loaded.set(String(row.serial), reason ? { outcome: { state, reason } } : { item: { ...row, event } });
  }
  return loaded;
}

/** How long the common part of e-mails is cached. A changed event has another cache key. */
const KEPT_FOR_MS = 60_000;
/** Half of the size that partners get: a picture of half the width takes half the time. */
const PIXELS_PER_MODULE = 4;

/** Returns a renderer of e-mails of a kind. It composes the common part once per event. */
export function createRenderer(kind: Kind, { passes, sender }: RenderOptions) {
  const isConfirmation = kind === CONFIRMATION;
  const compose = (_key: string, event: Event) => commonOf(event, sender, kind);
  const commons = readThroughCache(compose, KEPT_FOR_MS);
  return async (
    attendee: Attendee,
    delivery: Pick<Delivery, 'revision' | 'createdAt'>,
  ): Promise<MailMessage> => {
    const { event, serial, fullName, emailAddress, ticketTitle, seat } = attendee;
    const key = `${event.id} ${event.revision}`;
    const { frame, words } = await commons.forceFetch(key, { context: event });
    const revision = isConfirmation ? event.revision : delivery.revision;
    const name = URL_LIKE.test(fullName) ? null : fullName;
    const subject = { ...attendee, eventId: event.id };
    const ofAttendee = [
      [words.ticket, ticketTitle],
      [words.seat, seat],
      [words.passReference, formatPassReference({ ...subject, prefix: event.passPrefix })],
    ] as const;
    return frame({
      to: { name: name ?? '', address: emailAddress },
      // The same for every attempt, and another one for each time that it is queued.
      messageId: `<${serial}.${delivery.createdAt.getTime()}.${event.ref}@${sender.domain}>`,
      greeting: words.greeting(name),
      facts: isConfirmation ? ofAttendee : [],
      picture: isConfirmation ? qrPng(await passes.tokenFor(subject), PIXELS_PER_MODULE) : undefined,
      revision,
      batchId: attendee.batchId,
    });
  };
}

/**
 * A URL, or a text that e-mail programs show as a link, such as "win.example". Anybody can register any address, so the e-mail would carry
 * a stranger's link.
 */
const URL_LIKE = /:\/\/|\bwww\.|[\p{L}\p{N}][.\u3002\uff0e\uff61]\p{L}{2,}/iu;

/** Composes the common part of the e-mails of an event. */
async function commonOf(event: Event, sender: Sender, kind: Kind) {
  const { name, ref, venue, language, replyTo } = event;
  const words = WORDS[language];
  const { calendar: calendarHint, ...ofKind } = words[kind](name);
  const calendar = calendarOf(event);
  const pictureId = kind === CONFIRMATION ? `pass.${ref}@${sender.domain}` : null;
  const letter = {
    ...ofKind,
    language,
    heading: name,
    ...(pictureId && { picture: { ...words.picture, url: `cid:${pictureId}` } }),
    facts: [
      [words.when, whenText(event)],
      [words.where, venue],
    ] as const,
    hints: calendar ? [calendarHint] : [],
    why: words.why(name),
  };
  return { frame: await createFrame({ letter, sender, replyTo, pictureId, calendar }), words };
}

/** Returns the time of an event in its language and time zone; null if the start is not known. */
function whenText({ startsAt, endsAt, timeZone, language }: Event): string | null {
  if (!startsAt) return null;
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    dateStyle: 'full',
    timeStyle: 'short',
    timeZone: timeZone ?? 'UTC',
  });
  const text = endsAt ? format.formatRange(startsAt, endsAt) : format.format(startsAt);
  return timeZone ? text : `${text} (UTC)`;
}

/**
 * Returns the event as a calendar file; null if the start is not known. A file with a higher SEQUENCE replaces the entry with the same UID.
 */
function calendarOf({ ref, name, startsAt, endsAt, venue, revision }: Event): string | null {
  if (!startsAt) return null;
  const calendar = ical({ name, method: ICalCalendarMethod.PUBLISH, prodId: '-//Floodgate//Floodgate//EN' });
  calendar.createEvent({
    id: ref,
    sequence: revision,
    // The same for every e-mail of an event.
    stamp: startsAt,
    start: startsAt,
    end: endsAt,
    summary: name,
    location: venue,
  });
  return calendar.toString();
}
