import type { Event } from '@floodgate/events';
import ical, { escape, foldLines, ICalCalendarMethod, ICalEventStatus } from 'ical-generator';
import type { Sender } from './letter.ts';

// Calendar files by RFC 5545 and RFC 5546. All e-mails about an event have one UID. So an attendee with several
// registrations has one entry, and a later file changes or removes it.

/** The individual part of a calendar file. */
export interface CalendarContent {
  /** When it is sent. */
  at: Date;
  /** The text of the entry about the registration. */
  description: string;
}

/** Composes calendar files that differ only in their individual part. */
export type CalendarFrame = (content: CalendarContent) => string;

/** PUBLISH adds or updates the entry in the recipient's calendar, CANCEL removes it. */
export type CalendarMethod = 'PUBLISH' | 'CANCEL';

const PLACEHOLDER = '-';
/** Lines that are different in each file. */
const VERSION = /^SEQUENCE:.*\r\nDTSTAMP:.*\r\n/m;
const DESCRIPTION = /^DESCRIPTION:-\r\n/m;

/**
 * Returns the frame of calendar files that add an event, or change or remove its entry; null if the start is
 * not known. The library composes the frame once: composing each file took 0.3 ms.
 */
export function createCalendarFrame(
  event: Event,
  sender: Sender,
  method: CalendarMethod,
): CalendarFrame | null {
  const { ref, name, startsAt, endsAt, venue } = event;
  if (!startsAt) return null;
  const isCancelled = method === 'CANCEL';
  const calendar = ical({ name, method: ICalCalendarMethod[method], prodId: '//Floodgate//Floodgate//EN' });
  calendar.createEvent({
    id: ref,
    start: startsAt,
    end: endsAt,
    summary: name,
    location: venue,
    description: PLACEHOLDER,
    organizer: organizerOf(event, sender),
    // An entry that was cancelled is confirmed by a later registration.
    status: isCancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
  });
  const frame = calendar.toString();
  return ({ at, description }) =>
    frame
      .replace(VERSION, `SEQUENCE:${sequenceOf(event, at, isCancelled)}\r\nDTSTAMP:${utcOf(at)}\r\n`)
      .replace(DESCRIPTION, () => `${foldLines(`DESCRIPTION:${escape(description, false)}`)}\r\n`);
}

/** Replies go to the address of the event, otherwise to the sender. */
function organizerOf({ name, replyTo }: Event, { from, address }: Sender) {
  if (replyTo) return { name, email: replyTo };
  return { name: /^([^<]*)</.exec(from)?.[1]?.replaceAll('"', '').trim() || name, email: address };
}

const utcOf = (at: Date) => at.toISOString().replaceAll(/[-:]|\.\d+/g, '');

/**
 * Returns the version of an entry: a calendar ignores a file with a lower one. It rises with time, because an
 * attendee can cancel, register again and cancel again while the event does not change. It is higher than the
 * revision of the event, which was the version before.
 */
function sequenceOf({ revision, createdAt }: Event, at: Date, isCancelled: boolean): number {
  const seconds = Math.max(0, Math.floor((at.getTime() - createdAt.getTime()) / 1_000));
  // A cancellation in the second of its confirmation is still higher.
  return revision + 2 * seconds + Number(isCancelled);
}
