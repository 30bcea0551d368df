/** How a time is written. */
interface TimeFormat {
  /** Null: UTC. */
  timeZone: string | null;
  language: string;
}

const DAY = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
const TIME = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;

/**
 * Returns a time, or a range of time, in a language. It always names the time zone. If the clock changes within the range, both ends have
 * their zone: "02:30 CEST – 02:30 CET".
 */
export function timeText({ timeZone, language }: TimeFormat, startsAt: Date, endsAt?: Date | null): string {
  const locale = language === 'en' ? 'en-GB' : language;
  const zone = { timeZone: timeZone ?? 'UTC' };
  const complete = new Intl.DateTimeFormat(locale, { ...DAY, ...TIME, ...zone });
  if (!endsAt) return complete.format(startsAt);
  if (offsetOf(startsAt, zone) === offsetOf(endsAt, zone)) return complete.formatRange(startsAt, endsAt);
  // formatRange compares the fields of the clock: it would join two times that look the same.
  const day = new Intl.DateTimeFormat(locale, { ...DAY, ...zone });
  const isSameDay = day.format(startsAt) === day.format(endsAt);
  const end = isSameDay ? new Intl.DateTimeFormat(locale, { ...TIME, ...zone }) : complete;
  return `${complete.format(startsAt)} – ${end.format(endsAt)}`;
}

/** Returns the offset of a zone at a time, such as GMT+02:00. */
function offsetOf(at: Date, zone: { timeZone: string }) {
  const parts = new Intl.DateTimeFormat('en', { ...zone, timeZoneName: 'longOffset' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value;
}
