import { formatPassReference } from '@floodgate/contract';
import { readThroughCache } from '@floodgate/database';
import type { Delivery, DeliveryKind } from '@floodgate/deliveries';
import { CANCELLATION, CONFIRMATION, EVENT_UPDATED, type Event, type EventPlace } from '@floodgate/events';
import { qrPng, type PassSigner } from '@floodgate/passes';
import { createCalendarFrame } from '../calendar.ts';
import { WORDS, type Fact, type Sender, type Words } from '../letter.ts';
import { looksLikeLink } from '../links.ts';
import { createFrame, type MailMessage } from '../message.ts';
import { timeText } from '../time-text.ts';
import { loadRecipients, type Attendee, type Kind, type Offered } from './recipients.ts';
import type { RefusalOptions } from './refusals.ts';

interface RenderOptions {
  passes: Pick<PassSigner, 'tokenFor'>;
  sender: Sender;
}

/**
 * The kind of e-mails with the pass, with the new time and place of an event, about a cancellation, or with
 * an offer of a waiting list.
 */
export const attendeeKind = (
  name: Kind,
  options: RefusalOptions & RenderOptions,
): DeliveryKind<MailMessage, Attendee | Offered> => ({
  name,
  // The operator's switch is the journal consumer.
  consumerKind: 'mail',
  load: (deliveries) => loadRecipients(name, options, deliveries),
  render: createRenderer(name, options),
});

/** How long the common part of e-mails is cached. A changed event has another cache key. */
const KEPT_FOR_MS = 60_000;
/** Half of the size that partners get: a picture of half the width takes half the time. */
const PIXELS_PER_MODULE = 4;

/** The facts of a delivery that its e-mail shows. */
type Rendered = Pick<Delivery, 'revision' | 'createdAt'>;

/** Returns a renderer of e-mails of a kind. It composes the common part once per event. */
export function createRenderer(kind: Kind, { passes, sender }: RenderOptions) {
  const compose = (_key: string, { event, isLast }: CommonOptions) => commonOf(event, sender, kind, isLast);
  const commons = readThroughCache(compose, KEPT_FOR_MS);
  return async (recipient: Attendee | Offered, delivery: Rendered): Promise<MailMessage> => {
    const { event, batchId, fullName, emailAddress } = recipient;
    const isLast = !('hasOthers' in recipient) || !recipient.hasOthers;
    const context = { event, isLast };
    const { frame, calendar, words } = await commons.forceFetch(`${event.id} ${event.revision} ${isLast}`, {
      context,
    });
    const name = looksLikeLink(fullName) ? null : fullName;
    const isOffer = 'expiresAt' in recipient;
    return frame({
      to: { name: name ?? '', address: emailAddress },
      messageId: messageIdOf(kind, recipient, delivery, sender),
      greeting: words.greeting(name),
      facts: isOffer ? factsOfOffer(recipient, words) : factsOf(kind, recipient, words),
      ...(!isOffer && {
        picture: await pictureOf(kind, recipient, passes),
        calendar: calendar?.({ at: new Date(), description: descriptionOf(recipient, words) }),
      }),
      // The content is always that of the newest event.
      revision: isOffer ? delivery.revision : event.revision,
      batchId,
    });
  };
}

/** Returns an id that is the same for every attempt, and another one for each time that an e-mail is queued. */
function messageIdOf(
  kind: Kind,
  { event, serial }: Attendee | Offered,
  { createdAt }: Rendered,
  sender: Sender,
) {
  const prefix = kind === CANCELLATION ? 'cancelled.' : '';
  return `<${prefix}${serial}.${createdAt.getTime()}.${event.ref}@${sender.domain}>`;
}

const factsOfOffer = ({ event, ticketTitle, seats, expiresAt }: Offered, words: Words): Fact[] => [
  [words.ticket, ticketTitle],
  [words.seats, String(seats)],
  [words.until, timeText(event, expiresAt)],
];

const factsOf = (kind: Kind, attendee: Attendee, words: Words) =>
  kind === EVENT_UPDATED ? factsOfOld(attendee, words) : factsOfPass(attendee, words);

const factsOfPass = (attendee: Attendee, words: Words): Fact[] => [
  [words.ticket, attendee.ticketTitle],
  [words.seat, attendee.seat],
  [words.passReference, passReferenceOf(attendee)],
];

const passReferenceOf = (attendee: Attendee) =>
  formatPassReference({ ...attendee, eventId: attendee.event.id, prefix: attendee.event.passPrefix });

/** Returns what an earlier e-mail said and does not hold any more. */
function factsOfOld({ event, told }: Attendee, words: Words): Fact[] {
  if (!told) return [];
  const changed = (now: string | null, before: string | null) => (before === now ? null : before);
  return [
    [words.oldName, changed(event.name, told.name)],
    [words.oldWhen, changed(whenText(event), whenText({ ...told, language: event.language }))],
    [words.oldWhere, changed(event.venue, told.venue)],
  ];
}

/** Returns what the entry in a calendar says about a registration. */
const descriptionOf = (attendee: Attendee, words: Words) =>
  factsOfPass(attendee, words)
    .filter(([, value]) => value)
    .map((fact) => fact.join(': '))
    .join('\n');

/** Returns the pass as a picture. Only the confirmation shows it. */
async function pictureOf(kind: Kind, attendee: Attendee, passes: RenderOptions['passes']) {
  if (kind !== CONFIRMATION) return undefined;
  return qrPng(await passes.tokenFor({ ...attendee, eventId: attendee.event.id }), PIXELS_PER_MODULE);
}

interface CommonOptions {
  event: Event;
  /** Whether the recipient has no other registration, so that a cancellation removes the event from the calendar. */
  isLast: boolean;
}

/** Composes the common part of the e-mails of an event. */
async function commonOf(event: Event, sender: Sender, kind: Kind, isLast: boolean) {
  const { name, ref, venue, language, replyTo } = event;
  const words = WORDS[language];
  const { calendar: calendarHint, ...ofKind } = words[kind](name);
  const method = kind === CANCELLATION ? 'CANCEL' : 'PUBLISH';
  const calendar = calendarHint && isLast ? createCalendarFrame(event, sender, method) : null;
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
    hints: [...(calendar && calendarHint ? [calendarHint] : []), ...(isLast ? [] : [words.others])],
  };
  const calendarMethod = calendar && method;
  return {
    frame: await createFrame({ letter, sender, replyTo, pictureId, calendarMethod }),
    calendar,
    words,
  };
}

/** Returns the time of an event in its language and time zone; null if the start is not known. */
const whenText = (event: Pick<Event, 'language'> & Omit<EventPlace, 'name' | 'venue'>): string | null =>
  event.startsAt && timeText(event, event.startsAt, event.endsAt);
