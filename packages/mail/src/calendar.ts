import ical, { ICalCalendarMethod } from 'ical-generator';
import type { MailEvent } from './mail-event.ts';

/** Returns the event as a calendar file; null if its start is not known. A file with a higher SEQUENCE replaces the entry with the same UID. */
export function calendarOf({ ref, name, startsAt, endsAt, venue, revision }: MailEvent): string | null {
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
