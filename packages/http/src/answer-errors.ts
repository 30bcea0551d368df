import { randomBytes } from 'node:crypto';
import { failure, MAX_RETRY_AFTER_SECONDS, RESPONSE_CODES, type FailureCode } from '@floodgate/contract';
import { statementFailure } from '@floodgate/database';
import { InvalidInput, QueueFull, throttledWarn, type Logger } from '@floodgate/service';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { REFUSED_BODY } from './read-requests.ts';
import { faultsOf, invalidFields, listInvalidFields, sentencesOf, type InvalidField } from './faults.ts';

/** Values that may differ from the catalogue's entry: the message, which of the code's statuses, and when to retry. */
interface Specifics {
  message?: string;
  status?: number;
  /** The least; heeded where the code tells when to come back at all. */
  retryAfterSeconds?: number;
  /** On code 11: what is wrong, for programs. */
  invalidFields?: readonly InvalidField[];
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
  if (retryAfterSeconds) {
    const leastSeconds = Math.max(retryAfterSeconds, specifics.retryAfterSeconds ?? 0);
    void reply.header('retry-after', drawRetryAfter(leastSeconds));
  }
  listInvalidFields(reply, specifics.invalidFields ?? []);
  return reply.send(failure(code, specifics.message));
}

/** Draws what Retry-After says: once to twice as long as it takes at least, so that not all who were refused come back at once. */
function drawRetryAfter(leastSeconds: number): number {
  const seconds = Math.min(leastSeconds, MAX_RETRY_AFTER_SECONDS / 2);
  return Math.round(seconds * (1 + Math.random()));
}

// Unique over processes and restarts by the random part, within the process by the count.
const processPart = randomBytes(6).toString('hex');
let count = 0;

/** The id that an answer carries as x-request-id and a log line as requestId. */
export function nextRequestId(): string {
  count += 1;
  return `${processPart}-${count.toString(36)}`;
}

const warnOfPostgres = throttledWarn('Postgres refused or did not answer');

/** Puts every failure that Fastify, a route or a dependency produces into the envelope. */
export function answerErrors(app: FastifyInstance, answerError: ErrorAnswerer): void {
  // So that a wrong method can be told from a wrong path.
  const routes: { pattern: URLPattern; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: new URLPattern({ pathname: url }), methods: [method].flat() });
  });
  app.setErrorHandler<FastifyError>(answerError);
  // In a hook, not in a not-found handler: those run only after the body was parsed, and may fail on it first.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const pathname = request.url.split(/[?#]/, 1)[0]!;
    const allowed = routes
      .flatMap(({ pattern, methods }) => (pattern.test({ pathname }) ? methods : []))
      .join(', ');
    if (allowed === '') return void reply.fail('60');
    void reply.header('allow', allowed);
    return void reply.fail('60', { status: 405, message: `This route answers ${allowed} only` });
  });
  // For a route that finds nothing, like the documentation's files: Fastify would repeat the URL.
  app.setNotFoundHandler((_request, reply) => reply.fail('60'));
}

type ErrorAnswerer = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => void;

/** Returns what answers an error of any origin. Only what nobody foresaw is logged: the rest is the caller's to read. */
export function errorAnswerer(log: Logger): ErrorAnswerer {
  return (error, request, reply) => {
    // Errors of the framework itself come past the hook that sets it.
    void reply.header('x-request-id', request.id);
    const status = error.statusCode ?? 500;
    if (error.validation) failValidation(error, request, reply);
    else if (error instanceof QueueFull) fail(reply, '90');
    else if (error instanceof InvalidInput) fail(reply, '11', refusedByAction(error));
    // The route does not find it, or does not show it.
    else if (status === 403 || status === 404) fail(reply, '60');
    else if (status >= 400 && status < 500) fail(reply, '10', malformed(error, request));
    else answerFault(log, error, request, reply);
  };
}

function failValidation(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const faults = faultsOf(request, error);
  const message = sentencesOf(faults, request.routeOptions.schema).join('; ');
  fail(reply, '11', { message, invalidFields: invalidFields(faults) });
}

function answerFault(log: Logger, error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const isPostgres = ['not-sent', 'unknown', 'locked', 'unavailable'].includes(statementFailure(error));
  const facts = { err: error, requestId: request.id };
  if (isPostgres) warnOfPostgres(log, facts);
  else log.error({ ...facts, route: request.routeOptions.url }, 'unexpected error');
  fail(reply, isPostgres ? '90' : '99');
}

const NOT_JSON: Specifics = { message: 'The body is not well-formed JSON' };
const MALFORMED: Record<string, Specifics> = {
  FST_ERR_BAD_URL: { message: 'The URL is not well-formed' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { status: 415, message: 'The body must be sent as application/json' },
  FST_ERR_CTP_INVALID_JSON_BODY: NOT_JSON,
  FST_ERR_CTP_EMPTY_JSON_BODY: NOT_JSON,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: NOT_JSON,
};

// Messages that are not ours may quote the request, or speak of a body where there is none.
function malformed(error: FastifyError, { routeOptions }: FastifyRequest): Specifics {
  if (error.code === REFUSED_BODY) return { status: error.statusCode!, message: error.message };
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return { status: 413, message: `The body is larger than ${routeOptions.bodyLimit / 1024} KiB` };
  return MALFORMED[error.code] ?? {};
}

/** Rules that a schema cannot express are checked by the action. */
const refusedByAction = ({ message, rules }: InvalidInput): Specifics => ({
  message,
  invalidFields: Object.keys(rules).map((field) => ({ field, rule: field ? 'format' : 'minProperties' })),
});
