import { answersOf, COMMON_FAILURES, RevocationQuery, RevokedPasses, success } from '@floodgate/contract';
import type { Database, RecentReads } from '@floodgate/database';
import { createFairQueue, type Routes } from '@floodgate/http';
import { CURSOR_PROBLEMS } from '@floodgate/registrations';
import { readRevocations, signRevocations } from './revocations.ts';
import type { PassSigner } from './signer.ts';

const DEFAULT_LIMIT = 100;

interface Dependencies {
  reads: Database;
  recent: RecentReads;
  answerWithinMs: number;
  signer: PassSigner;
}

/** GET /events/passes/revoked: which of the caller's passes let nobody in any more, signed, from a cursor on. */
export function addRevocationsRoute(
  api: Routes,
  { reads, recent, answerWithinMs, signer }: Dependencies,
): void {
  // One connection, however many ask, as for other lists.
  const inTurn = createFairQueue({ answerWithinMs });
  api.get(
    '/events/passes/revoked',
    {
      schema: {
        operationId: 'listRevokedPasses',
        tags: ['Registrations'],
        summary: 'List Revoked Passes',
        description:
          'Lists the serials of registrations of the same partner under this event that were cancelled after a cursor. Their ' +
          'passes are no longer valid. The list is signed like the passes, so that a door can trust a copy of it.',
        failures: [...COMMON_FAILURES, '11'],
        querystring: RevocationQuery,
        response: answersOf(RevokedPasses),
      },
    },
    async ({ principal: { shardId, eventId, partnerId }, query: { after, limit }, raw }, reply) => {
      const list = (db: Database) =>
        readRevocations(
          db,
          { shardId, eventId, partnerId },
          Number(after ?? 0),
          Number(limit ?? DEFAULT_LIMIT),
        );
      const page = await inTurn(
        partnerId,
        () => !raw.socket.destroyed,
        async () => {
          const { value } = await recent.read(list);
          // A replica may be behind a cursor that the primary gave.
          return value === 'cursor-ahead' ? list(reads) : value;
        },
      );
      if (typeof page === 'string')
        return reply.fail('11', {
          message: `after: ${CURSOR_PROBLEMS[page]}`,
          invalidFields: [{ field: 'after', rule: page }],
        });
      const { signing } = await signer.keys();
      const { cursor, more } = page;
      return success({ revocations: signRevocations(page, signing), cursor, more });
    },
  );
}
