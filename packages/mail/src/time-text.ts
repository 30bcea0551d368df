/** How a time is written. */
interface TimeFormat {
  /** Null: UTC. */
  timeZone: string | null;
  language: string;
}

const DAY = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
const TIME = { hour: '2-digit', minute: '2-digit' } as const;
const ZONE = { timeZoneName: 'long' } as const;

/**
 * Returns a time, or a range of time, in a language. It always names the time zone in words. If the clock
 * changes within the range, both ends have their zone: "02:30 Central European Summer Time – 02:30 Central
 * European Standard Time". (formatRange would join two times that look the same.)
 */
export function timeText({ timeZone, language }: TimeFormat, startsAt: Date, endsAt?: Date | null): string {
  const locale = language === 'en' ? 'en-GB' : language;
  const zone = { timeZone: timeZone ?? 'UTC' };
  const format = (at: Date, fields: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...fields, ...zone })
      .formatToParts(at)
      .map(({ type, value }) => (type === 'timeZoneName' ? inWords(at, locale, zone, value) : value))
      .join('');
  if (!endsAt) return format(startsAt, { ...DAY, ...TIME, ...ZONE });
  const isSameOffset = offsetOf(startsAt, zone) === offsetOf(endsAt, zone);
  const isSameDay = format(startsAt, DAY) === format(endsAt, DAY);
  const start = format(startsAt, { ...DAY, ...TIME, ...(isSameOffset ? {} : ZONE) });
  return `${start} – ${format(endsAt, { ...(isSameDay ? {} : DAY), ...TIME, ...ZONE })}`;
}

interface Zone {
  timeZone: string;
}

/** Returns the name of a zone. One that has only an offset is named after its place: "Morocco Time (GMT+01:00)". */
function inWords(at: Date, locale: string, zone: Zone, name: string) {
  if (!OFFSET.test(name)) return name;
  const place = nameOf(at, locale, zone, 'longGeneric');
  return OFFSET.test(place) ? name : `${place} (${name})`;
}

const OFFSET = /^GMT/;

/** Returns the offset of a zone at a time, such as GMT+02:00. */
const offsetOf = (at: Date, zone: Zone) => nameOf(at, 'en', zone, 'longOffset');

function nameOf(at: Date, locale: string, zone: Zone, timeZoneName: 'longGeneric' | 'longOffset') {
  const parts = new Intl.DateTimeFormat(locale, { ...zone, timeZoneName }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')!.value;
}
