/** How a time is written. */
interface TimeFormat {
  /** Null: UTC. */
  timeZone: string | null;
  language: string;
}

const DAY = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
const TIME = { hour: '2-digit', minute: '2-digit' } as const;
const ZONE = { timeZoneName: 'short' } as const;

/**
 * Returns a time, or a range of time, in a language. It always names the time zone. If the clock changes
 * within the range, both ends have their zone: "02:30 CEST – 02:30 CET". (formatRange would join two times
 * that look the same.)
 */
export function timeText({ timeZone, language }: TimeFormat, startsAt: Date, endsAt?: Date | null): string {
  const locale = language === 'en' ? 'en-GB' : language;
  const zone = { timeZone: timeZone ?? 'UTC' };
  const format = (at: Date, fields: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...fields, ...zone }).format(at);
  if (!endsAt) return format(startsAt, { ...DAY, ...TIME, ...ZONE });
  const isSameOffset = offsetOf(startsAt, zone) === offsetOf(endsAt, zone);
  const isSameDay = format(startsAt, DAY) === format(endsAt, DAY);
  const start = format(startsAt, { ...DAY, ...TIME, ...(isSameOffset ? {} : ZONE) });
  return `${start} – ${format(endsAt, { ...(isSameDay ? {} : DAY), ...TIME, ...ZONE })}`;
}

/** Returns the offset of a zone at a time, such as GMT+02:00. */
function offsetOf(at: Date, zone: { timeZone: string }) {
  const parts = new Intl.DateTimeFormat('en', { ...zone, timeZoneName: 'longOffset' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value;
}
