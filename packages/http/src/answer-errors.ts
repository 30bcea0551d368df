import { fieldRule, isIdempotencyKey } from '@floodgate/contract';
import { statementFailure, TooManyReads } from '@floodgate/database';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { warnSeldom } from '@floodgate/service';
import { refuse } from './refuse.ts';

export const IDEMPOTENCY_KEY_RULE = 'Idempotency-Key: 1 to 255 visible ASCII characters';

const warnOfPostgres = warnSeldom('Postgres refused or did not answer');

/** Puts every failure that Fastify, a route or a dependency produces into the envelope. */
export function answerErrors(app: FastifyInstance): void {
  const methods = collectMethods(app);
  app.setErrorHandler<FastifyError>(answerError);
  // In a hook, not in a not-found handler: those run only after the body was parsed, and may fail on it first.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const allowed = methods.of(request.url);
    if (allowed.length === 0) return void reply.send(refuse(reply, '60'));
    void reply.header('allow', allowed.join(', '));
    const message = `This route answers ${allowed.join(', ')} only`;
    return void reply.send(refuse(reply, '60', { status: 405, message }));
  });
  // For a route that finds nothing, like the documentation's files: Fastify would repeat the URL.
  app.setNotFoundHandler((_request, reply) => reply.send(refuse(reply, '60')));
}

/** Answers an error of any origin. Only what nobody foresaw is logged: the rest is the caller's to read. */
export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): unknown {
  // Errors of the framework itself come past the hook that sets it.
  void reply.header('x-request-id', request.id);
  if (error.validation) return reply.send(refuse(reply, '11', { message: invalidFields(error, request) }));
  if (error instanceof TooManyReads) return reply.send(refuse(reply, '90'));
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return reply.send(refuse(reply, '10', malformed(error, status)));
  if (['not-sent', 'unknown', 'locked', 'unavailable'].includes(statementFailure(error))) {
    warnOfPostgres(request.log, { err: error, requestId: request.id });
    return reply.send(refuse(reply, '90'));
  }
  request.log.error(
    { err: error, requestId: request.id, route: request.routeOptions.url },
    'unexpected error',
  );
  return reply.send(refuse(reply, '99'));
}

const MALFORMED: Record<number, string> = {
  413: 'The body is larger than 16 KiB',
  415: 'The body must be sent as application/json',
};

// Fastify's own messages may quote the request; these do not.
function malformed(error: FastifyError, status: number): { message: string; status: number } {
  if (error.code === 'FST_ERR_BAD_URL') return { status: 400, message: 'The URL is not well-formed' };
  const known = MALFORMED[status];
  if (known) return { status, message: known };
  return { status: 400, message: 'The body is not well-formed JSON' };
}

function invalidFields(error: FastifyError, request: FastifyRequest): string {
  const fields = new Set(error.validation?.map(fieldOf));
  const rules = fields.has('') ? ['The body must be a JSON object'] : [...fields].map(fieldRule);
  const key = request.headers['idempotency-key'];
  if (key !== undefined && !isIdempotencyKey(key)) rules.push(IDEMPOTENCY_KEY_RULE);
  return rules.join('; ');
}

type Fault = NonNullable<FastifyError['validation']>[number];

/** The name of the field that a validation error is about; empty for the body itself. */
function fieldOf({ instancePath, params }: Fault): string {
  const missing = params['missingProperty'];
  return typeof missing === 'string' ? missing : (instancePath.split('/')[1] ?? '');
}

/** Remembers which methods each route answers, so that a wrong method can be told from a wrong path. */
function collectMethods(app: FastifyInstance): { of(url: string): string[] } {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const escaped = url.replaceAll('.', String.raw`\.`);
    const pattern = new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
    for (const name of [method].flat()) routes.push({ pattern, method: name });
  });
  const pathOf = (url: string) => url.split(/[?#]/, 1)[0]!;
  return {
    of: (url) => routes.filter(({ pattern }) => pattern.test(pathOf(url))).map(({ method }) => method),
  };
}
