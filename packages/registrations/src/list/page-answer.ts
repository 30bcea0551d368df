import { DEFAULT_LIMIT, success } from '@floodgate/contract';
import type { Principal } from '@floodgate/http';
import type { CursorProblem } from '@floodgate/journal';
import type { Clock } from '@floodgate/service';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { CURSOR_PROBLEMS } from './list-registrations.ts';

/** A request for a page. */
interface PageRequest {
  principal: Principal;
  query: { after?: string; limit?: string };
  raw: { socket: { destroyed: boolean } };
}

/**
 * Returns a function that answers a request for a page of the journal: with 11 if the list cannot continue
 * from the cursor.
 */
export function createPageAnswer(answerWithinMs: number, clock?: Clock) {
  // One connection for all callers: lists must not delay registrations.
  const queue = createFairQueue({ answerWithinMs, clock });
  return async function answerPage<Page extends object, Answer, Failed>(
    { principal, query: { after = '0', limit = String(DEFAULT_LIMIT) }, raw }: PageRequest,
    reply: { fail(code: '11', specifics: object): Failed },
    read: (after: number, limit: number) => Promise<Page | CursorProblem>,
    present: (page: Page) => Answer | Promise<Answer>,
  ) {
    const isCallerConnected = () => !raw.socket.destroyed;
    const page = await queue(principal.partnerId, isCallerConnected, () =>
      read(Number(after), Number(limit)),
    );
    if (typeof page !== 'string') return success(await present(page));
    const message = `after: ${CURSOR_PROBLEMS[page]}`;
    return reply.fail('11', { message, invalidFields: [{ field: 'after', rule: page }] });
  };
}
