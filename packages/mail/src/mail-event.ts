import type { Database, Mode } from '@floodgate/database';
import type { Language } from '@floodgate/events';

/** Facts about an event for e-mails. */
export interface MailEvent {
  id: number;
  shardId: number;
  ref: string;
  name: string;
  passPrefix: string;
  mode: Mode;
  startsAt: Date | null;
  endsAt: Date | null;
  venue: string | null;
  timeZone: string | null;
  language: Language;
  replyTo: string | null;
  /** Rises with every change of the event. */
  revision: number;
}

/** Returns what e-mails say about an event, or undefined if there is no such event. */
export async function findMailEvent(db: Database, eventId: number): Promise<MailEvent | undefined> {
  const event = await db
    .selectFrom('events')
    .select([
      'id',
      'shard_id as shardId',
      'ref',
      'name',
      'pass_prefix as passPrefix',
      'mode',
      'starts_at as startsAt',
      'ends_at as endsAt',
      'venue',
      'time_zone as timeZone',
      'language',
      'reply_to as replyTo',
      'revision',
    ])
    .where('id', '=', eventId)
    .executeTakeFirst();
  // The column holds supported languages only.
  return event && { ...event, language: event.language as Language };
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

const MOST_FRAMES = 100;

/** Returns a cache of what is made of events. An event that has changed is another entry. */
export function eventFrames<Frame>(create: (event: MailEvent) => Promise<Frame>) {
  const frames = new Map<string, Promise<Frame>>();
  return (event: MailEvent): Promise<Frame> => {
    const key = JSON.stringify(event);
    const known = frames.get(key);
    if (known) return known;
    if (frames.size >= MOST_FRAMES) frames.clear();
    const frame = create(event);
    // A failure is not kept.
    frame.catch(() => frames.delete(key));
    frames.set(key, frame);
    return frame;
  };
}
