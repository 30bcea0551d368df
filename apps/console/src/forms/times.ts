export const HOUR_MS = 3_600_000;

/** A date and a time of a form, without a zone: "2026-12-04T11:00". */
const LOCAL = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/** Returns a time as a field for a date and a time shows it, in this zone. Whole minutes have no seconds. */
export function localText(time: Date, zone: string) {
  const local = Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(zone);
  const isWhole = local.second === 0 && local.millisecond === 0;
  return local.toPlainDateTime().toString({ smallestUnit: isWhole ? 'minute' : 'millisecond' });
}

/**
 * Returns the time with its offset that a text of a form stands for in this zone. A text with an offset, and
 * one that is no time, stays as it is. A time that the clock skips in spring counts as one hour later.
 */
export function instantText(text: string, zone: string) {
  if (!LOCAL.test(text)) return text;
  try {
    return Temporal.PlainDateTime.from(text.replace(' ', 'T')).toZonedDateTime(zone).toInstant().toString();
  } catch {
    return text;
  }
}

/**
 * Returns a time of a form moved by as much as another one was, on the clock: a week is a week, although it can
 * have an hour more. A text that is no time stays as it is.
 */
export function movedAlike(text: string, from: string, to: string) {
  if (![text, from, to].every((one) => LOCAL.test(one))) return text;
  const [time, start, end] = [text, from, to].map((one) =>
    Temporal.PlainDateTime.from(one.replace(' ', 'T')),
  );
  return time!.add(start!.until(end!)).toString();
}
