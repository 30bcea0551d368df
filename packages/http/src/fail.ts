import { failure, RESPONSE_CODES, type FailureCode } from '@floodgate/contract';
import type { FastifyReply } from 'fastify';

/** What may differ from the catalogue's entry: the message, and which of the code's statuses. */
export interface Specifics {
  message?: string;
  status?: number;
}

declare module 'fastify' {
  interface FastifyReply {
    /** Sends a failure with its status and Retry-After. Returns the reply, for handlers that are async. */
    fail(code: FailureCode, specifics?: Specifics): FastifyReply;
  }
}

/** `reply.fail`, also for replies without it: those to URLs that Fastify cannot read. */
export function fail(reply: FastifyReply, code: FailureCode, specifics: Specifics = {}): FastifyReply {
  const { httpStatuses, retryAfterSeconds } = RESPONSE_CODES[code];
  void reply.code(specifics.status ?? httpStatuses[0]);
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterSeconds);
  return reply.send(failure(code, specifics.message));
}
