import { statementFailure, type Database } from '@floodgate/database';
import { findPrincipal, Forbidden, mayUseSomewhere } from '@floodgate/operators';
import type { OperatorPrincipal, Scope } from '@floodgate/operators';
import { Failure, InvalidInput, NotFound, QueueFull, sqlStateOf, type Logger } from '@floodgate/service';
import { Type, type Static } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConsoleContext } from './operations.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null: nobody is signed in. */
    operator: OperatorPrincipal | null;
  }
}

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

const INSUFFICIENT_PRIVILEGE = '42501';
const GRANT = 'Run "floodgate migrate": it grants what the console needs.';

/** Returns the problem of an error. Logs it if it is unexpected. */
export function problemOf(error: unknown, { id, routeOptions }: FastifyRequest, log: Logger): Problem {
  if (error instanceof Refusal) return error.problem;
  if (error instanceof Forbidden) return { status: 403, title: 'You may not do this', detail: error.message };
  if (error instanceof InvalidInput) return { status: 422, title: 'Invalid input', invalid: error.rules };
  if (error instanceof NotFound) return { status: 404, title: 'Not found', detail: error.message };
  if (error instanceof Failure) return { status: 409, title: 'Not possible', detail: error.message };
  if (error instanceof QueueFull) return { status: 503, title: 'Too many requests at once' };
  const statusCode = statusOf(error);
  if (statusCode < 500) return { status: statusCode, title: 'The request is not well-formed' };
  return faultOf(error, { requestId: id, route: routeOptions.url }, log);
}

/** Returns the status of an error of Fastify. */
const statusOf = (error: unknown) =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;

function faultOf(
  error: unknown,
  facts: { requestId: string; route: string | undefined },
  log: Logger,
): Problem {
  if (error instanceof Error && sqlStateOf(error) === INSUFFICIENT_PRIVILEGE) {
    log.error({ ...facts, err: error }, 'the console lacks a privilege');
    // The message names the table or function, and nothing of the request.
    return { status: 500, title: 'The console lacks a privilege', detail: `${error.message}. ${GRANT}` };
  }
  const isPostgres = ['not-sent', 'unknown', 'locked', 'unavailable'].includes(statementFailure(error));
  const message = isPostgres ? 'Postgres refused or did not answer' : 'unexpected error';
  log.error({ ...facts, err: error }, message);
  if (isPostgres) return { status: 503, title: 'Postgres does not answer, or not in time' };
  return {
    status: 500,
    title: 'Unexpected error',
    detail: `It is in the log with the request id ${facts.requestId}`,
  };
}

const BEARER = /^Bearer (\S+)$/i;

/**
 * Routes whose bodies are read without a sign-in. The console keeps what somebody typed into a form whose
 * session has ended.
 */
const OPEN = ['/sign-in', '/sign-out', '/do/:id', '/do/:id/:part', '/events/new'];
const SIGN_IN_FIRST = 'Sign in, or send a valid token';

/** Finds out who sends each request: by the token of a machine, or the cookie of a session. */
export function addPrincipals(app: FastifyInstance, { db, cookies }: ConsoleContext) {
  app.addHook('onRequest', async (request) => {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    // Another site could make the browser send the cookie.
    if (!token && !isFromHere(request)) throw new Refusal(403, 'The request comes from another site');
    const text = token ?? cookies.read(request, 'floodgate_session');
    request.operator = text ? await findSender(db, request, text) : null;
    // Before the body is read.
    if (!request.operator && !isOpen(request)) throw new Refusal(401, SIGN_IN_FIRST);
  });
}

/** Resolves to the sender of a request. Without Postgres, some pages can be shown to somebody unknown. */
async function findSender(db: Database, request: FastifyRequest, text: string) {
  const found = findPrincipal(db, text);
  return (await (needsNobody(request) ? found.catch(() => null) : found)) ?? null;
}

/** Pages that are the same for everybody: the sign-in, and the documents with the runbook. */
const needsNobody = ({ method, routeOptions: { url = '' } }: FastifyRequest) =>
  method === 'GET' && (url === '/sign-in' || url.startsWith('/help'));

const isOpen = (request: FastifyRequest) =>
  isReading(request) || OPEN.includes(request.routeOptions.url ?? '');

const isReading = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD';

/** Returns whether a browser's request that can change something comes from a page of the console. */
function isFromHere(request: FastifyRequest) {
  if (isReading(request)) return true;
  const { headers } = request;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  // Browsers without this header send an origin with each form.
  return headers.origin !== undefined && URL.parse(headers.origin)?.host === headers.host;
}

/** Returns who sends the request. Throws 401 if nobody is signed in. */
export function requireOperator({ operator }: FastifyRequest) {
  if (!operator) throw new Refusal(401, SIGN_IN_FIRST);
  return operator;
}

/**
 * Returns who sends the request. Throws 401 if nobody is signed in, and 403 if one of the scopes is missing
 * for every event. The operation checks the event later.
 */
export function requireScope(request: FastifyRequest, ...scopes: Scope[]) {
  const operator = requireOperator(request);
  for (const scope of scopes) if (!mayUseSomewhere(operator, scope)) throw new Forbidden(scope);
  return operator;
}
