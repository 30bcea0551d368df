import { randomBytes } from 'node:crypto';
import {
  failure,
  fieldRule,
  MAX_RETRY_AFTER_SECONDS,
  RESPONSE_CODES,
  type FailureCode,
} from '@floodgate/contract';
import type { TSchema } from '@sinclair/typebox';
import { statementFailure } from '@floodgate/database';
import { QueueFull, throttledWarn, type Logger } from '@floodgate/service';
import { InvalidInput } from '@floodgate/service/failure';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalidFields, listInvalidFields, type InvalidField } from './invalid-fields.ts';
import { RefusedBody } from './strict/requests.ts';

/** What may differ from the catalogue's entry: the message, which of the code's statuses, and when to come back. */
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
  if (retryAfterSeconds !== undefined) {
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
  const routes: { pattern: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const escaped = url.replaceAll('.', String.raw`\.`);
    const pattern = new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
    routes.push({ pattern, methods: [method].flat() });
  });
  app.setErrorHandler<FastifyError>(answerError);
  // In a hook, not in a not-found handler: those run only after the body was parsed, and may fail on it first.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = request.url.split(/[?#]/, 1)[0]!;
    const allowed = routes.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : [])).join(', ');
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
    if (error.validation) fail(reply, '11', brokenRules(error, request));
    else if (error instanceof QueueFull) fail(reply, '90');
    else if (error instanceof InvalidInput) fail(reply, '11', refusedByAction(error));
    // What a route does not find, or does not show.
    else if (status === 403 || status === 404) fail(reply, '60');
    else if (status >= 400 && status < 500) fail(reply, '10', malformed(error, request));
    else answerFault(log, error, request, reply);
  };
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
  if (error instanceof RefusedBody) return { status: error.statusCode, message: error.message };
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return { status: 413, message: `The body is larger than ${routeOptions.bodyLimit / 1024} KiB` };
  return MALFORMED[error.code] ?? {};
}

/** All rules that a request breaks, as sentences and as fields. Fastify stops before its headers where another part is wrong. */
function brokenRules(
  { validation, validationContext: part = 'body' }: FastifyError,
  request: FastifyRequest,
) {
  const rules = sentences(request.routeOptions.schema?.[part], validation);
  const fields = invalidFields(validation, part);
  const headers = part === 'headers' ? NOTHING_BROKEN : brokenHeaderRules(request);
  return {
    message: [...rules, ...headers.rules].join('; '),
    invalidFields: [...fields, ...headers.fields],
  };
}

/** Rules that a schema cannot express are checked by the action. */
const refusedByAction = ({ message, fields }: InvalidInput): Specifics => ({
  message,
  invalidFields: fields.map((field) => ({ field, rule: field === '' ? 'minProperties' : 'format' })),
});

const NOTHING_BROKEN = { rules: [] as string[], fields: [] as InvalidField[] };

function brokenHeaderRules(request: FastifyRequest): typeof NOTHING_BROKEN {
  const check = request.getValidationFunction('headers');
  if (!check || check(request.headers)) return NOTHING_BROKEN;
  const rules = sentences(request.routeOptions.schema?.headers, check.errors);
  return { rules, fields: invalidFields(check.errors, 'headers') };
}

/** What is wrong with a request: the sentences that are about all of it, and those about one item of a list. */
export interface ItemFaults {
  ofCall: string[];
  byIndex: Map<number, string[]>;
  /** All of them, for programs. */
  fields: InvalidField[];
}

/**
 * Returns what is wrong with the body of a route with `attachValidation`, told apart by the items of the body's `list`, each
 * with the sentences that it would have got as a body of its own.
 */
export function itemFaults(request: FastifyRequest, list: string): ItemFaults {
  const { validation = [], validationContext } = (request.validationError ?? {}) as Partial<FastifyError>;
  const schema = request.routeOptions.schema?.[validationContext ?? 'body'] as TSchema;
  const item = new RegExp(`^/${list}/([0-9]+)(?=/|$)`);
  const ofItems = Map.groupBy(validation ?? [], ({ instancePath }) => item.exec(instancePath)?.[1]);
  const ofCall = sentences(schema, ofItems.get(undefined));
  const headers = validationContext === 'headers' ? NOTHING_BROKEN : brokenHeaderRules(request);
  ofCall.push(...headers.rules);
  ofItems.delete(undefined);
  const itemSchema = (schema['properties'] as Record<string, TSchema> | undefined)?.[list]?.[
    'items'
  ] as TSchema;
  const byIndex = Array.from(ofItems, ([index, faults]): [number, string[]] => {
    const own = faults.map((fault) => ({ ...fault, instancePath: fault.instancePath.replace(item, '') }));
    return [Number(index), sentences(itemSchema, own)];
  });
  const fields = [...invalidFields(validation, validationContext), ...headers.fields];
  return { ofCall, byIndex: new Map(byIndex), fields };
}

function sentences(schema: unknown, faults: FastifyError['validation'] | null): string[] {
  // The JSON pointers of the values that the faults are about; empty for the whole of it.
  const pointers = new Set(
    faults?.map(({ instancePath, params: { missingProperty: missing } }) =>
      typeof missing === 'string' ? `${instancePath}/${missing}` : instancePath,
    ),
  );
  if (pointers.has('')) return ['The body must be a JSON object'];
  return Array.from(pointers, (pointer) => fieldRule(schema, pointer));
}
