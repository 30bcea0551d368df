import type { Database } from '@floodgate/database';
import { findPrincipal, mayUse, type OperatorPrincipal, type Scope } from '@floodgate/operators';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null: nobody is signed in. */
    operator: OperatorPrincipal | null;
  }
}

const COOKIE = 'floodgate_session';
const SESSION = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`);
const BEARER = /^Bearer (\S+)$/i;

/** Finds out who sends each request: by the token of a machine, or the cookie of a session. */
export function addPrincipals(app: FastifyInstance, db: Database): void {
  app.addHook('onRequest', async (request) => {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    // Another site could make the browser send the cookie.
    if (!token && !isFromHere(request)) throw new Refusal(403, 'The request comes from another site');
    const text = token ?? SESSION.exec(request.headers.cookie ?? '')?.[1];
    request.operator = (text && (await findPrincipal(db, text))) || null;
  });
}

/** Returns whether a browser's request that can change something comes from a page of the console. */
function isFromHere({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  // Browsers without this header send an origin with each form.
  return headers.origin !== undefined && URL.parse(headers.origin)?.host === headers.host;
}

/** Returns who sends the request. Throws 401 if nobody is signed in, and 403 without one of the scopes. */
export function requireScope({ operator }: FastifyRequest, ...scopes: Scope[]): OperatorPrincipal {
  if (!operator) throw new Refusal(401, 'Sign in, or send a valid token');
  for (const scope of scopes)
    if (!mayUse(operator, scope)) throw new Refusal(403, 'You may not do this', `It requires ${scope}.`);
  return operator;
}

/** Sets the cookie of a session. An empty text removes it. */
export function setSession(reply: FastifyReply, text: string, isSecure: boolean): void {
  const end = text === '' ? '; Max-Age=0' : '';
  const secure = isSecure ? '; Secure' : '';
  void reply.header('set-cookie', `${COOKIE}=${text}; Path=/; HttpOnly; SameSite=Lax${secure}${end}`);
}
