import type { Database, Mode } from '@floodgate/database';
import type { Language } from '@floodgate/events';

/** What e-mails tell of an event. */
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
}

/** Returns what e-mails tell of an event, or undefined where there is no such event. */
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
    ])
    .where('id', '=', eventId)
    .executeTakeFirst();
  // Only languages that we have get there.
  return event && { ...event, language: event.language as Language };
}
