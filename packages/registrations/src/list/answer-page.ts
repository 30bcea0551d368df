import { DEFAULT_LIMIT, success } from '@floodgate/contract';
import type { Principal } from '@floodgate/http';
import type { CursorProblem } from '@floodgate/journal';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { CURSOR_PROBLEMS } from './list-registrations.ts';

interface PageRequest {
  principal: Principal;
  query: { after?: string; limit?: string };
  raw: { socket: { destroyed: boolean } };
}

/** Returns the answer to a request for a page of the journal. A cursor that cannot be continued is code 11. */
export function createPageAnswer(answerWithinMs: number) {
  // One connection for all callers: lists must not delay registrations.
  const queue = createFairQueue({ answerWithinMs });
  return async function answerPage<Page extends object, Answer, Failed>(
    { principal, query: { after = '0', limit = String(DEFAULT_LIMIT) }, raw }: PageRequest,
    reply: { fail(code: '11', specifics: object): Failed },
    read: (after: number, limit: number) => Promise<Page | CursorProblem>,
    present: (page: Page) => Answer | Promise<Answer>,
  ) {
    const isWanted = () => !raw.socket.destroyed;
    const page = await queue(principal.partnerId, isWanted, () => read(Number(after), Number(limit)));
    if (typeof page !== 'string') return success(await present(page));
    const message = `after: ${CURSOR_PROBLEMS[page]}`;
    return reply.fail('11', { message, invalidFields: [{ field: 'after', rule: page }] });
  };
}
