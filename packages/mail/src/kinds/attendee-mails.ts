import { createHash } from 'node:crypto';
import { formatPassReference, normalizeEmail } from '@floodgate/contract';
import { plainArray, readThroughCache, type Database, type Mode } from '@floodgate/database';
import type { Delivery, DeliveryKind, EndedDelivery, LoadedItems } from '@floodgate/deliveries';
import { CONFIRMATION, findEvent, WAITING_OFFER, type Event, type EVENT_KINDS } from '@floodgate/events';
import { qrPng, type PassSigner } from '@floodgate/passes';
import ical, { ICalCalendarMethod } from 'ical-generator';
import { sql, type RawBuilder } from 'kysely';
import { WORDS, type Sender, type Words } from '../letter.ts';
import { looksLikeLink } from '../links.ts';
import { createFrame, type MailMessage } from '../message.ts';
import { timeText } from '../time-text.ts';

type Kind = (typeof EVENT_KINDS)[number];

/** A recipient, with the facts that all e-mails contain. */
interface Recipient {
  event: Event;
  serial: number;
  batchId?: string;
  ticketTitle: string;
  fullName: string;
  emailAddress: string;
}
interface Attendee extends Recipient {
  passCode: number;
  ticketId: number;
  seat: string | null;
}
/** The contact of an entry of a waiting list that has an offer. */
interface Offered extends Recipient {
  seats: number;
  expiresAt: Date;
}

export interface LoadOptions {
  db: Database;
  /** Whether e-mails leave this machine. */
  isOutside: boolean;
}

interface RenderOptions {
  passes: Pick<PassSigner, 'tokenFor'>;
  sender: Sender;
}

/**
 * The kind of e-mails with the pass, with the new time and place of an event, or with an offer of a waiting
 * list.
 */
export const attendeeKind = (
  name: Kind,
  options: LoadOptions & RenderOptions,
): DeliveryKind<MailMessage, Attendee | Offered> => ({
  name,
  // The operator's switch is the journal consumer.
  consumerKind: 'mail',
  load: (deliveries) => loadRecipients(name === WAITING_OFFER ? OFFERS : REGISTRATIONS, options, deliveries),
  render: createRenderer(name, options),
});

const REGISTRATIONS = sql`
  serial, batch_id as "batchId", pass_code as "passCode", ticket_id as "ticketId", full_name as "fullName",
  email_address as "emailAddress", table_or_seat as seat,
  case when cancelled_at is not null then 'cancelled' end as ending
  from registrations`;
const OFFERS = sql`
  serial, ticket_id as "ticketId", full_name as "fullName", email_address as "emailAddress", seats,
  expires_at as "expiresAt", case when state <> 'offered' or expires_at <= now() then 'offer ended' end as ending
  from waiting_entries`;

/**
 * Loads the recipients of deliveries whose subjects are rows of one event. Rows that do not exist are
 * missing.
 */
async function loadRecipients(
  source: RawBuilder<unknown>,
  options: LoadOptions,
  deliveries: readonly Delivery[],
): Promise<LoadedItems<Attendee | Offered>> {
  const event = await findEvent(options.db, deliveries[0]!.eventId);
  // With `offset 0`, Postgres looks up each row by its key.
  const { rows } = await sql<(Omit<Attendee, 'event'> | Omit<Offered, 'event'>) & { ending: string | null }>`
    select r.*, t.title as "ticketTitle"
    from unnest(${plainArray(deliveries.map(({ subject }) => subject))}::bigint[]) as query (serial)
    cross join lateral (
      select ${source}
      where shard_id = ${event.shardId} and serial = query.serial and event_id = ${event.id}
      offset 0
    ) r
    cross join lateral (
      select title from tickets where shard_id = ${event.shardId} and id = r."ticketId" offset 0
    ) t`.execute(options.db);
  const addresses = rows.map(({ emailAddress }) => emailAddress);
  const refusals = await findRefusals(options, event.mode, addresses);
  const loaded: LoadedItems<Attendee | Offered> = new Map();
  for (const [index, { ending, ...row }] of rows.entries()) {
    const state = ending ? 'cancelled' : 'suppressed';
    const reason = ending ?? refusals[index];
    loaded.set(String(row.serial), reason ? { outcome: { state, reason } } : { item: { ...row, event } });
  }
  return loaded;
}

/** Returns the digest of an address, which identifies it without containing it. The digest ignores case. */
export const digestOf = (address: string): string =>
  createHash('sha256').update(normalizeEmail(address).toLowerCase()).digest('hex');

/** Top-level domains that never exist (RFC 2606): an address there is a mistake or a test. */
const RESERVED = /\.(?:invalid|example|test)\.?$/i;

/** Returns for each address why it gets no e-mail about an event of this mode; undefined if it gets one. */
export async function findRefusals({ db, isOutside }: LoadOptions, mode: Mode, addresses: readonly string[]) {
  const digests = addresses.map(digestOf);
  const { rows } = await sql<{ digest: string }>`
    select digest from mail_suppressions where digest = any(${plainArray(digests)}::text[])`.execute(db);
  const suppressed = new Set(rows.map(({ digest }) => digest));
  return addresses.map((address, index) => {
    if (suppressed.has(digests[index]!)) return 'suppressed';
    if (isOutside && mode === 'test') return 'test event';
    return isOutside && RESERVED.test(address) ? 'reserved address' : undefined;
  });
}

/** Suppresses further e-mails to addresses that were refused permanently. */
export async function suppressRefused(
  db: Database,
  ended: readonly EndedDelivery<MailMessage>[],
): Promise<void> {
  for (const { delivery, message, attempt, outcome } of ended) {
    const isRefused = attempt?.kind === 'refused' && attempt.isPermanent;
    if (!message || !isRefused || outcome.state !== 'undeliverable') continue;
    await db
      .insertInto('mail_suppressions')
      .values({ digest: digestOf(message.to), reason: attempt.reason, event_id: delivery.eventId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
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
    recipient: Attendee | Offered,
    delivery: Pick<Delivery, 'revision' | 'createdAt'>,
  ): Promise<MailMessage> => {
    const { event, serial, batchId, fullName, emailAddress } = recipient;
    const key = `${event.id} ${event.revision}`;
    const { frame, words } = await commons.forceFetch(key, { context: event });
    const revision = isConfirmation ? event.revision : delivery.revision;
    const name = looksLikeLink(fullName) ? null : fullName;
    return frame({
      to: { name: name ?? '', address: emailAddress },
      // The same for every attempt, and another one for each time that it is queued.
      messageId: `<${serial}.${delivery.createdAt.getTime()}.${event.ref}@${sender.domain}>`,
      greeting: words.greeting(name),
      ...('expiresAt' in recipient && { facts: factsOfOffer(recipient, words) }),
      ...(isConfirmation && 'passCode' in recipient && (await passOf(recipient, words, passes))),
      revision,
      batchId,
    });
  };
}

const factsOfOffer = ({ event, ticketTitle, seats, expiresAt }: Offered, words: Words) =>
  [
    [words.ticket, ticketTitle],
    [words.seats, String(seats)],
    [words.until, timeText(event, expiresAt)],
  ] as const;

/** Returns the facts about a registration, and its pass as a picture. */
async function passOf(attendee: Attendee, words: Words, passes: RenderOptions['passes']) {
  const subject = { ...attendee, eventId: attendee.event.id };
  const facts = [
    [words.ticket, attendee.ticketTitle],
    [words.seat, attendee.seat],
    [words.passReference, formatPassReference({ ...subject, prefix: attendee.event.passPrefix })],
  ] as const;
  return { facts, picture: qrPng(await passes.tokenFor(subject), PIXELS_PER_MODULE) };
}

/** Composes the common part of the e-mails of an event. */
async function commonOf(event: Event, sender: Sender, kind: Kind) {
  const { name, ref, venue, language, replyTo } = event;
  const words = WORDS[language];
  const { calendar: calendarHint, ...ofKind } = words[kind](name);
  const calendar = calendarHint && calendarOf(event);
  const pictureId = kind === CONFIRMATION ? `pass.${ref}@${sender.domain}` : null;
  const letter = {
    why: words.why(name),
    ...ofKind,
    language,
    heading: name,
    ...(pictureId && { picture: { ...words.picture, url: `cid:${pictureId}` } }),
    facts: [
      [words.when, whenText(event)],
      [words.where, venue],
    ] as const,
    hints: calendar && calendarHint ? [calendarHint] : [],
  };
  return { frame: await createFrame({ letter, sender, replyTo, pictureId, calendar }), words };
}

/** Returns the time of an event in its language and time zone; null if the start is not known. */
const whenText = (event: Event): string | null =>
  event.startsAt && timeText(event, event.startsAt, event.endsAt);

/**
 * Returns the event as a calendar file; null if the start is not known. A file with a higher SEQUENCE
 * replaces the entry with the same UID.
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
