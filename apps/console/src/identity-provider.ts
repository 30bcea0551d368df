import { findOperatorByEmail, openSession } from '@floodgate/operators';
import { ConfigError } from '@floodgate/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConsoleConfig } from './config.ts';
import type { ConsoleContext } from './operations.ts';
import { Refusal } from './principals.ts';
import type { Texts } from './view/html.ts';
import { pathOf } from './view/path-of.ts';

/** State, nonce and verifier of a sign-in that has started, and the page to show afterwards. */
const STARTED = /^([\w-]+)\.([\w-]+)\.([\w-]+)\.([\w-]*)$/;
/** A cookie has room for this much of an address. */
const LONGEST_NEXT = 2_000;
/** How long a person may take at the identity provider. */
const SIGN_IN_SECONDS = 600;
const ANSWER_WITHIN_SECONDS = 10;

const CALLBACK = '/sign-in/callback';

/** The settings of an identity provider; undefined if there is none. Throws ConfigError if one of them is missing. */
export function providerOf({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, CONSOLE_URL }: ConsoleConfig) {
  if (!OIDC_ISSUER) return undefined;
  const others = { OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, CONSOLE_URL };
  const missing = Object.entries(others).filter(([, value]) => !value);
  if (missing.length > 0)
    throw new ConfigError(`with OIDC_ISSUER, set ${missing.map(([name]) => name).join(', ')}`);
  const client = { clientId: OIDC_CLIENT_ID!, secret: OIDC_CLIENT_SECRET!, url: CONSOLE_URL! };
  return { issuer: new URL(OIDC_ISSUER), ...client };
}

/** Returns the page to show after a sign-in. */
const nextOf = (text = '') => (text.length > LONGEST_NEXT ? '/' : pathOf(text));

export type Provider = NonNullable<ReturnType<typeof providerOf>>;

/**
 * Adds the sign-in at an identity provider, if there is one (OpenID Connect, authorization code with PKCE).
 * An operator is known by the e-mail address that the provider has verified.
 */
export function addIdentityProvider(app: FastifyInstance, { db, log, provider, cookies }: ConsoleContext) {
  if (!provider) return;
  let known: ReturnType<typeof discover> | undefined;
  /** Reads the configuration of the provider once. After a failure, the next sign-in tries again. */
  const configured = () => {
    known ??= discover(provider);
    known.catch(() => (known = undefined));
    return known;
  };
  const refuse = (error: Error & { code?: string }): never => {
    // The text of an error can contain the address of a person.
    log.warn({ reason: error.code ?? error.name }, 'a sign-in at the identity provider failed');
    // Other codes say that the provider answered, and that its answer is a refusal or not valid.
    if (!/^OAUTH_(?!TIMEOUT|ABORT)/.test(error.code ?? ''))
      throw new Refusal(503, 'The identity provider does not answer', 'Sign in with a password.');
    throw new Refusal(403, 'The identity provider refused the sign-in', 'Try again, or use a password.');
  };

  app.get<{ Querystring: Texts }>('/sign-in/provider', async ({ query }, reply) => {
    const { oidc, config } = await configured().catch(refuse);
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const next = Buffer.from(nextOf(query['next'])).toString('base64url');
    cookies.set(reply, 'floodgate_sign_in', `${state}.${nonce}.${verifier}.${next}`, SIGN_IN_SECONDS);
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: provider.url + CALLBACK,
      scope: 'openid email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return reply.redirect(url.href, 303);
  });

  app.get(CALLBACK, async (request: FastifyRequest, reply) => {
    const cookie = cookies.read(request, 'floodgate_sign_in');
    cookies.set(reply, 'floodgate_sign_in', '');
    const { state, nonce, verifier, next } = startedIn(cookie);
    const { oidc, config } = await configured().catch(refuse);
    const url = new URL(request.url, provider.url);
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
    const tokens = await oidc
      .authorizationCodeGrant(config, url, { ...checks, idTokenExpected: true })
      .catch(refuse);
    const { email, email_verified: isVerified }: Record<string, unknown> = tokens.claims() ?? {};
    const operatorId =
      typeof email === 'string' && isVerified === true ? await findOperatorByEmail(db, email) : undefined;
    if (operatorId === undefined)
      throw new Refusal(403, 'No operator has this e-mail address', 'An owner can add it to an operator.');
    cookies.set(reply, 'floodgate_session', await openSession(db, operatorId));
    return reply.redirect(next, 303);
  });
}

/** Returns the sign-in that a cookie says has started. Throws if there is none. */
function startedIn(cookie = '') {
  const [, state, nonce, verifier, next = ''] = STARTED.exec(cookie) ?? [];
  if (!state || !nonce || !verifier) throw new Refusal(403, 'This sign-in has expired', 'Start again.');
  return { state, nonce, verifier, next: nextOf(Buffer.from(next, 'base64url').toString()) };
}

/** Loads the library, which the console does not need otherwise, and reads the configuration of the provider. */
async function discover({ issuer, clientId, secret }: Provider) {
  const oidc = await import('openid-client');
  const execute = issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
  const options = { timeout: ANSWER_WITHIN_SECONDS, execute };
  return { oidc, config: await oidc.discovery(issuer, clientId, secret, undefined, options) };
}
