// The serials that a server hands out rise with time. On Citus each server has a range of its own: 2^48 serials by
// the number of its group, the lowest for the coordinator. A shard that was moved to another server goes on in the
// range of that one, and what runs on the coordinator, as an operator's change of attendee, gets serials of the
// lowest range. So a later registration can have a lower serial. On one Postgres there is one range.

const SERIALS_OF_SERVER = 2 ** 48;
const LAST = Number.MAX_SAFE_INTEGER;

/** Serials of a shard: those after `after`, up to `upTo`. */
export interface SerialRange {
  after: number;
  upTo: number;
}

export const ALL_SERIALS: SerialRange = { after: 0, upTo: LAST };

/** Where the range of the server begins that has handed out a serial. */
const startOf = (serial: number) => Math.floor(serial / SERIALS_OF_SERVER) * SERIALS_OF_SERVER;

/** Yields the parts of a range that are of one server each, in order. */
export function* partsByServer({ after, upTo }: SerialRange): Generator<SerialRange> {
  for (let start = after; start < upTo;) {
    const end = Math.min(upTo, startOf(start) + SERIALS_OF_SERVER);
    yield { after: start, upTo: end };
    start = end;
  }
}

/** Returns the last serial of each server, of serials in order. */
export const lastOfServers = (serials: readonly number[]) =>
  serials.filter(
    (serial, index) => index === serials.length - 1 || startOf(serial) < startOf(serials[index + 1]!),
  );

/** Returns the serials up to the last one of each server, in order. Of a server that is not among them it has none. */
export function rangesUpTo(lasts: readonly number[]): SerialRange[] {
  const sorted = lasts.toSorted((one, other) => one - other);
  return sorted.map((upTo, index) => ({ after: Math.max(startOf(upTo), sorted[index - 1] ?? 0), upTo }));
}

/** Returns the serials that `rangesUpTo` leaves out. */
export function rangesAfter(lasts: readonly number[]): SerialRange[] {
  const ranges = [...rangesUpTo(lasts), { after: LAST, upTo: LAST }];
  return ranges
    .map(({ after: upTo }, index) => ({ after: ranges[index - 1]?.upTo ?? 0, upTo }))
    .filter(({ after, upTo }) => after < upTo);
}
