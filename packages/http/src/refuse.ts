import { failure, responseCodeEntry, type Failure, type FailureCode } from '@floodgate/contract';
import type { FastifyReply } from 'fastify';

/** Sets status and Retry-After of a failed answer and gives its body. */
export function refuse(
  reply: FastifyReply,
  code: FailureCode,
  specifics: { message?: string; status?: number } = {},
): Failure {
  const entry = responseCodeEntry(code);
  void reply.code(specifics.status ?? entry.httpStatuses[0]);
  if (entry.retryAfterSeconds !== undefined) void reply.header('retry-after', entry.retryAfterSeconds);
  return failure(code, specifics.message);
}
