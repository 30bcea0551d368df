import { randomBytes } from 'node:crypto';
import { failure, MAX_RETRY_AFTER_SECONDS, RESPONSE_CODES, type FailureCode } from '@floodgate/contract';
import { statementFailure } from '@floodgate/database';
import { InvalidInput, QueueFull, throttledWarn, type Logger } from '@floodgate/service';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import FindMyWay from 'find-my-way';
import { createPace } from './pace.ts';
import { REFUSED_BODY } from './read-requests.ts';
import { countRefusal } from './refusals.ts';
import { faultsOf, invalidFields, listInvalidFields, sentencesOf, type InvalidField } from './faults.ts';

/** Overrides of the catalogue's entry of a code. */
interface Specifics {
  message?: string;
  status?: number;
  /**
   * Minimum of Retry-After. Null: the same request can never succeed, so there is no Retry-After. Ignored if
   * the code has none.
   */
  retryAfterSeconds?: number | null;
  /** The invalid fields of code 11, in machine-readable form. */
  invalidFields?: readonly InvalidField[];
}

declare module 'fastify' {
  interface FastifyReply {
    /** Sends a failure with its status and Retry-After. Returns the reply, for async handlers. */
    fail(code: FailureCode, specifics?: Specifics): FastifyReply;
    /** Set by `fail`. */
    failureCode?: FailureCode;
  }
  interface FastifyRequest {
    /** The partner of a key that is refused: it has ended, or does not open the event. */
    refusedPartnerId?: number | undefined;
  }
}

/** Codes that a stranger gets immediately, without a look-up that would slow it down. */
const REFUSALS_OF_STRANGERS: readonly FailureCode[] = ['10', '20', '60'];
const pace = createPace();

/** Returns the event of the key of a request. Undefined: its key is not known. */
const eventOf = ({ principal }: { principal?: { eventId?: number } | null }) => principal?.eventId;

/** `reply.fail` as a function. Replies to URLs that Fastify cannot parse do not have the method. */
export function fail(reply: FastifyReply, code: FailureCode, specifics: Specifics = {}) {
  const { httpStatuses, retryAfterSeconds: leastSeconds } = RESPONSE_CODES[code];
  reply.failureCode = code;
  countRefusal(code, { partnerId: partnerIdOf(reply.request), eventId: eventOf(reply.request) });
  void reply.code(specifics.status ?? httpStatuses[0]);
  if (leastSeconds && specifics.retryAfterSeconds !== null) {
    const seconds = Math.max(leastSeconds, specifics.retryAfterSeconds ?? 0);
    // Random, one to two times the minimum, so that refused clients do not retry at the same time.
    const drawn = Math.min(seconds, MAX_RETRY_AFTER_SECONDS / 2) * (1 + Math.random());
    void reply.header('retry-after', Math.round(drawn));
  }
  listInvalidFields(reply, specifics.invalidFields ?? []);
  const send = () => void reply.send(failure(code, specifics.message));
  const isStranger = !(reply.request.principal as unknown);
  if (isStranger && REFUSALS_OF_STRANGERS.includes(code)) pace(send);
  else send();
  return reply;
}

/** Returns the partner of a request, also of one whose key is not valid any more. Undefined: a stranger or a device. */
function partnerIdOf({ principal, refusedPartnerId }: FastifyRequest): number | undefined {
  const caller = principal as { partnerId?: number } | null | undefined;
  return caller?.partnerId ?? refusedPartnerId;
}

// The random part makes an id unique across processes and restarts, the count within the process.
const processPart = randomBytes(6).toString('hex');
let count = 0;

/** Returns a new request id: x-request-id in the answer, requestId in the log. */
export function nextRequestId() {
  count += 1;
  return `${processPart}-${count.toString(36)}`;
}

const warnOfPostgres = throttledWarn('Postgres refused or did not answer');

/** Answers requests without a route with the envelope. */
export function refuseUnknownRoutes(app: FastifyInstance) {
  // Distinguishes a wrong method from a wrong path. The router that Fastify uses, with all methods of a path.
  const paths = FindMyWay();
  app.addHook('onRoute', ({ url, method }) => {
    const route = paths.findRoute('GET', url)?.store as { methods: string[] } | undefined;
    if (route) route.methods.push(...[method].flat());
    else paths.on('GET', url, () => {}, { methods: [method].flat() });
  });
  // A hook, because a not-found handler runs after the body is parsed, which can fail first.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const end = request.url.search(/[?#]/);
    const path = end < 0 ? request.url : request.url.slice(0, end);
    const route = paths.find('GET', path);
    if (!route) return void reply.fail('60');
    const allowed = (route.store as { methods: string[] }).methods.join(', ');
    void reply.header('allow', allowed);
    return void reply.fail('60', { status: 405, message: `This route supports only ${allowed}` });
  });
}

/**
 * Returns the handler that answers every failure of Fastify, a route or a dependency with the envelope. Only
 * unexpected errors are logged. The answer explains the others to the caller.
 */
export function errorAnswerer(log: Logger) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    // Errors of the framework bypass the hook that sets this header.
    void reply.header('x-request-id', request.id);
    const status = error.statusCode ?? 500;
    if (error.validation) fail(reply, '11', invalid(error, request));
    else if (error instanceof QueueFull) fail(reply, '90');
    else if (error instanceof InvalidInput) fail(reply, '11', refusedByAction(error));
    // Not found, or not accessible.
    else if (status === 403 || status === 404) fail(reply, '60');
    else if (status >= 400 && status < 500) fail(reply, '10', malformed(error, request));
    else answerFault(log, error, request, reply);
  };
}

function invalid(error: FastifyError, request: FastifyRequest): Specifics {
  const faults = faultsOf(request, error);
  const message = sentencesOf(faults, request.routeOptions.schema).join('; ');
  return { message, invalidFields: invalidFields(faults) };
}

function answerFault(log: Logger, error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const isPostgres = ['not-sent', 'unknown', 'locked', 'unavailable'].includes(statementFailure(error));
  const facts = { err: error, requestId: request.id };
  if (isPostgres) warnOfPostgres(log, facts);
  else log.error({ ...facts, route: request.routeOptions.url }, 'unexpected error');
  fail(reply, isPostgres ? '90' : '99');
}

const NOT_JSON = 'The body is not well-formed JSON';
const MALFORMED: Record<string, string> = {
  FST_ERR_BAD_URL: 'The URL is not well-formed',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be sent as application/json',
  FST_ERR_CTP_INVALID_JSON_BODY: NOT_JSON,
  FST_ERR_CTP_EMPTY_JSON_BODY: NOT_JSON,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: NOT_JSON,
};

// Messages of libraries are replaced: they may quote the request, or mention a body that does not exist.
function malformed(error: FastifyError, { routeOptions }: FastifyRequest): Specifics {
  const messages: typeof MALFORMED = {
    ...MALFORMED,
    FST_ERR_CTP_BODY_TOO_LARGE: `The body is larger than ${routeOptions.bodyLimit / 1024} KiB`,
    [REFUSED_BODY]: error.message,
  };
  const message = messages[error.code];
  return message ? { status: error.statusCode!, message } : {};
}

/** The action checks rules that a schema cannot express. */
const refusedByAction = ({ message, rules }: InvalidInput): Specifics => ({
  message,
  invalidFields: Object.keys(rules).map((field) => ({ field, rule: field ? 'format' : 'minProperties' })),
});
