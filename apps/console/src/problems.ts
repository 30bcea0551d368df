import { statementFailure } from '@floodgate/database';
import { Failure, InvalidInput, NotFound, QueueFull, type Logger } from '@floodgate/service';
import { Type, type Static } from '@sinclair/typebox';
import type { FastifyError, FastifyRequest } from 'fastify';

const Rule = Type.String({ description: 'the rule of this field' });

/** An answer that is not a success, as RFC 9457 has it. Contains nothing of the request. */
export const Problem = Type.Object(
  {
    status: Type.Integer(),
    title: Type.String(),
    detail: Type.Optional(Type.String()),
    invalid: Type.Optional(Type.Record(Type.String(), Rule)),
  },
  { title: 'Problem' },
);
type Problem = Static<typeof Problem>;

/** Thrown by a route to answer with this problem. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly problem: Problem;

  constructor(status: number, title: string, detail?: string) {
    super(title);
    this.problem = { status, title, ...(detail && { detail }) };
  }
}

/** Returns the problem of an error. Logs it if it is unexpected. */
export function problemOf(error: FastifyError, { id, routeOptions }: FastifyRequest, log: Logger): Problem {
  if (error instanceof Refusal) return error.problem;
  if (error instanceof InvalidInput) return { status: 422, title: 'Invalid input', invalid: error.rules };
  if (error instanceof NotFound) return { status: 404, title: 'Not found', detail: error.message };
  if (error instanceof Failure) return { status: 409, title: 'Not possible', detail: error.message };
  if (error instanceof QueueFull) return { status: 503, title: 'Too many requests at once' };
  const { statusCode = 500 } = error;
  if (statusCode < 500) return { status: statusCode, title: 'The request is not well-formed' };
  const isPostgres = ['not-sent', 'unknown', 'locked', 'unavailable'].includes(statementFailure(error));
  const message = isPostgres ? 'Postgres refused or did not answer' : 'unexpected error';
  log.error({ err: error, requestId: id, route: routeOptions.url }, message);
  if (isPostgres) return { status: 503, title: 'Postgres does not answer, or not in time' };
  return { status: 500, title: 'Unexpected error', detail: `It is in the log with the request id ${id}` };
}
