import { NEWEST, type Match, type Range } from './find-matches.ts';
import type { Hit } from './read-hits.ts';

/** The cursors of a search. */
interface Position {
  /** Continues with older hits. */
  after?: number;
  /** Goes back to newer hits. */
  before?: number;
}

/** Returns what to search for the page at a position. */
export const rangeOf = ({ after, before }: Position, most: number): Range =>
  before === undefined
    ? { from: after ?? NEWEST, direction: 'older', most }
    : { from: before, direction: 'newer', most };

/** A page of hits, the newest first, with the cursors of the pages around it. Null: there is none. */
interface Page {
  attendees: Hit[];
  cursor: number | null;
  more: boolean;
  previous: number | null;
}

/** Returns the page of the first `limit` of these hits, which the filters leave of the matches of the range. */
export function pageOf(hits: readonly Hit[], matches: readonly Match[], range: Range, limit: number): Page {
  const shown = hits.slice(0, limit);
  const isCut = hits.length > limit;
  const isOver = isCut || matches.length === range.most;
  const end = (isCut ? shown : matches).at(-1)?.serial ?? null;
  const pageFrom = range.direction === 'older' ? olderPage : newerPage;
  return pageFrom(shown, isOver ? end : null, range.from);
}

/** `end`: the cursor of further hits, or null. The hit at the cursor `from` belongs to the page before. */
function olderPage(shown: Hit[], end: number | null, from: number): Page {
  const previous = from === NEWEST ? null : (shown[0]?.serial ?? from - 1);
  return { attendees: shown, cursor: end, more: end !== null, previous };
}

function newerPage(shown: Hit[], end: number | null, from: number): Page {
  const cursor = shown[0]?.serial ?? from + 1;
  return { attendees: shown.toReversed(), cursor, more: true, previous: end };
}
