import type { Database } from '@floodgate/database';
import type { Language } from '@floodgate/events';
import ical, { ICalCalendarMethod } from 'ical-generator';

/** Facts about an event for e-mails. */
export type MailEvent = NonNullable<Awaited<ReturnType<typeof findMailEvent>>>;

/** Returns facts about an event for e-mails, or undefined if there is no such event. */
export function findMailEvent(db: Database, eventId: number) {
  return (
    db
      .selectFrom('events')
      .select(['id', 'shard_id as shardId', 'ref', 'name', 'pass_prefix as passPrefix', 'mode', 'venue'])
      .select(['starts_at as startsAt', 'ends_at as endsAt', 'time_zone as timeZone'])
      .select(['reply_to as replyTo', 'revision'])
      .select('language')
      // The column holds supported languages only.
      .$narrowType<{ language: Language }>()
      .where('id', '=', eventId)
      .executeTakeFirst()
  );
}

/** Returns when an event is, as its visitors read it; null if that is not known. */
export function whenText({ startsAt, endsAt, timeZone, language }: MailEvent): string | null {
  if (!startsAt) return null;
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    dateStyle: 'full',
    timeStyle: 'short',
    timeZone: timeZone ?? 'UTC',
  });
  const text = endsAt ? format.formatRange(startsAt, endsAt) : format.format(startsAt);
  return timeZone ? text : `${text} (UTC)`;
}

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

const MOST_CACHED = 100;

/** Caches one result per event. An event that has changed is another entry. */
export function cachedByEvent<Made>(make: (event: MailEvent) => Promise<Made>) {
  const cache = new Map<string, Promise<Made>>();
  return (event: MailEvent): Promise<Made> => {
    const key = `${event.id} ${event.revision}`;
    const known = cache.get(key);
    if (known) return known;
    if (cache.size >= MOST_CACHED) cache.clear();
    const made = make(event);
    // A failure is not kept.
    made.catch(() => cache.delete(key));
    cache.set(key, made);
    return made;
  };
}
