import { statementFailure } from '@floodgate/database';
import { createSignIn, findPrincipal, mayUse, openSession, revokeAccess } from '@floodgate/operators';
import type { OperatorPrincipal, Scope } from '@floodgate/operators';
import { Failure, InvalidInput, NotFound, QueueFull, type Logger } from '@floodgate/service';
import { Type, type Static } from '@sinclair/typebox';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import type { Provider } from './identity-provider.ts';
import type { ConsoleContext } from './operations.ts';
import { alertHtml, inputField, sendPage } from './view.ts';

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

const COOKIE = 'floodgate_session';
const SESSION = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`);
const BEARER = /^Bearer (\S+)$/i;

/** Finds out who sends each request: by the token of a machine, or the cookie of a session. */
export function addPrincipals(app: FastifyInstance, { db }: ConsoleContext) {
  app.addHook('onRequest', async (request) => {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    // Another site could make the browser send the cookie.
    if (!token && !isFromHere(request)) throw new Refusal(403, 'The request comes from another site');
    const text = token ?? SESSION.exec(request.headers.cookie ?? '')?.[1];
    request.operator = (text && (await findPrincipal(db, text))) || null;
  });
}

/** Returns whether a browser's request that can change something comes from a page of the console. */
function isFromHere({ method, headers }: FastifyRequest) {
  if (method === 'GET' || method === 'HEAD') return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  // Browsers without this header send an origin with each form.
  return headers.origin !== undefined && URL.parse(headers.origin)?.host === headers.host;
}

/** Returns who sends the request. Throws 401 if nobody is signed in, and 403 without one of the scopes. */
export function requireScope({ operator }: FastifyRequest, ...scopes: Scope[]) {
  if (!operator) throw new Refusal(401, 'Sign in, or send a valid token');
  for (const scope of scopes)
    if (!mayUse(operator, scope)) throw new Refusal(403, 'You may not do this', `It requires ${scope}.`);
  return operator;
}

/** Sets the cookie of a session. An empty text removes it. */
export function setSession(reply: FastifyReply, text: string, cookieRules: string) {
  const end = text === '' ? '; Max-Age=0' : '';
  void reply.header('set-cookie', `${COOKIE}=${text}; Path=/; ${cookieRules}${end}`);
}

const Text = Type.String({ maxLength: 255 });
const Credentials = Type.Object({ name: Text, password: Text });

const WRONG = 'The name or the password is wrong, or there were too many attempts. Wait for a minute.';

const formHtml = (name: string, problem: string, provider?: Provider) =>
  html`!${alertHtml(problem)}
    <form class="fields" method="post" action="/sign-in">
      !${inputField('name', html`value="${name}" autocomplete="username" required`)}
      !${inputField('password', 'type="password" autocomplete="current-password" required')}
      <p><button>Sign in</button></p>
    </form>
    !${provider && html`<p><a href="/sign-in/provider">Sign in at ${provider.issuer.host}</a></p>`}`;

/** Adds the pages to sign in and out with a password. */
export function addSignIn(app: FastifyInstance, { db, provider, cookieRules }: ConsoleContext) {
  const signIn = createSignIn(db);
  const show = (reply: FastifyReply, name = '', problem = '') =>
    sendPage(reply, 'Sign in', formHtml(name, problem, provider));
  app.get('/sign-in', (_request, reply) => show(reply));
  app.post<{ Body: Static<typeof Credentials> }>(
    '/sign-in',
    { schema: { body: Credentials } },
    async ({ body: { name, password } }, reply) => {
      const operatorId = await signIn(name, password);
      if (operatorId === undefined) return show(reply.code(401), name, WRONG);
      setSession(reply, await openSession(db, operatorId), cookieRules);
      return reply.redirect('/', 303);
    },
  );
  app.post('/sign-out', async ({ operator }, reply) => {
    if (operator) await revokeAccess(db, operator.accessId);
    setSession(reply, '', cookieRules);
    return reply.redirect('/sign-in', 303);
  });
}
