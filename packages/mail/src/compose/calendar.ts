import ical, { ICalCalendarMethod } from 'ical-generator';
import type { MailEvent } from '../mail-event.ts';

/** Returns the event as a calendar file; null where nobody has said when it starts. Whoever gets it twice has it once. */
export function calendarOf({ ref, name, startsAt, endsAt, venue }: MailEvent): string | null {
  if (!startsAt) return null;
  const calendar = ical({ name, method: ICalCalendarMethod.PUBLISH, prodId: '-//Floodgate//Floodgate//EN' });
  calendar.createEvent({
    id: ref,
    // The same each time.
    stamp: startsAt,
    start: startsAt,
    // Without an end it is an instant.
    end: endsAt,
    summary: name,
    location: venue,
  });
  return calendar.toString();
}
