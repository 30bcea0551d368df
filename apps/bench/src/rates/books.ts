import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { answersOf, OK, totalAnswers, type LoadResult } from '@floodgate/rehearsal/load/load';
import type { BookKeeper, Books } from '../contenders/contender.ts';
import type { Workload } from './workloads.ts';

export const SOLD_OUT = '409';
const DRAIN_LIMIT_MS = 120_000;
/** Each poll uses time of Postgres. */
const DRAIN_POLL_MS = 250;

/** Waits until everything is finalized. Throws after a time limit. */
export async function finalizeAll(books: Pick<BookKeeper, 'isFinalized'> | undefined): Promise<void> {
  if (!books) return;
  for (const giveUpAt = performance.now() + DRAIN_LIMIT_MS; !(await books.isFinalized());) {
    if (performance.now() > giveUpAt) throw new Error('not everything was finalized');
    await delay(DRAIN_POLL_MS);
  }
}

/** Waits until everything is finalized, and throws if a ticket is oversold or miscounted. */
export async function assertTickets(books: BookKeeper): Promise<Books> {
  await finalizeAll(books);
  const found = await books.read();
  if (found.wrongTickets > 0) throw new Error(`${found.wrongTickets} tickets oversold or miscounted`);
  return found;
}

/** Throws with the reason if `reconcile` finds a difference. */
export async function assertReconciled(db: Database): Promise<void> {
  const [first] = await reconcile(db);
  if (first) throw new Error(`${first.subject} ${first.problem}`);
}

/**
 * Returns why a run does not count, or undefined if all answers were expected and the books balance.
 * `registered`: the registrations that it has stored.
 */
export function findFault(
  result: Pick<LoadResult, 'answers'>,
  { books: wanted, size = 1 }: Pick<Workload, 'books' | 'size'>,
  books: Books | undefined,
  registered: number,
): string | undefined {
  const accepted = answersOf(result, OK);
  const soldOut = wanted === 'stored or sold out' ? answersOf(result, SOLD_OUT) : 0;
  const unforeseen = totalAnswers(result) - accepted - soldOut;
  if (unforeseen > 0) return `${unforeseen} requests failed: ${JSON.stringify(result.answers)}`;
  if (!books) return undefined;
  if (books.pending > 0) return `${books.pending} registrations were not finalized`;
  if (books.wrongTickets > 0) return `${books.wrongTickets} tickets oversold or miscounted`;
  if (wanted !== 'not only registrations' && registered !== accepted * size)
    return `${accepted * size} were accepted, but ${registered} are stored`;
  return undefined;
}
