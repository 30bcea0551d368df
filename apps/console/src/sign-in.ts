import { findPrincipal, openSession, revokeAccess } from '@floodgate/operators';
import { Type, type Static } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { keptTexts, textsOf, type Sent } from './forms/sent.ts';
import type { Provider } from './identity-provider.ts';
import type { ConsoleContext } from './operations.ts';
import { address, alertHtml, link, type Texts } from './view/html.ts';
import { sendPage } from './view/page.ts';
import { pathOf } from './view/path-of.ts';
import type { Words } from './words/index.ts';

const Text = Type.String({ maxLength: 255 });
const Credentials = Type.Object({
  name: Text,
  password: Text,
  /** The page to show afterwards. */
  next: Type.Optional(Type.String({ maxLength: 4_096 })),
  /** The fields of a form that was sent without a session, as JSON. */
  kept: Type.Optional(Type.String()),
});

/** Of a body with a name, a password, and the fields of the largest form as it is kept. */
const MOST_BYTES = 3 * 64 * 1_024;

/** How long a browser is known after a sign-in. */
export const DEVICE_SECONDS = 180 * 86_400;

/** Answers with a form at an address, filled with these fields. */
type ShowForm = (
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  typed: Texts,
) => Promise<FastifyReply>;

/** Returns whether an address belongs to a form, whose fields are kept while somebody signs in. */
const isForm = (path: string) => path.startsWith('/do/') || path === '/events/new';

interface SignInForm {
  name?: string;
  problem?: string;
  /** The page to show afterwards. */
  next?: string | undefined;
  kept?: string | undefined;
}

function formHtml(
  { name = '', problem = '', next = '', kept }: SignInForm,
  words: Words,
  provider?: Provider,
) {
  const { signIn } = words;
  const hidden = (field: string, value: string) =>
    html`<input type="hidden" name="${field}" value="${value}" />`;
  return html`!${alertHtml(problem)}
    <form class="card fields" method="post" action="/sign-in">
      <div class="field">
        <label for="name">${signIn.name}</label>
        <input id="name" name="name" value="${name}" autocomplete="username" required />
      </div>
      <div class="field">
        <label for="password">${signIn.password}</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
      </div>
      !${next && hidden('next', next)} !${kept === undefined ? '' : hidden('kept', kept)}
      <p><button class="primary">${words.shell.signIn}</button></p>
    </form>
    !${provider && link(address('/sign-in/provider', { next }), signIn.at(provider.issuer.host)).text}`;
}

/** Answers with the page to sign in. */
export function sendSignIn(reply: FastifyReply, provider: Provider | undefined, form: SignInForm = {}) {
  const { words } = reply.request.viewer;
  return sendPage(reply, { title: words.shell.signIn, parts: [formHtml(form, words, provider)] });
}

/**
 * Sends a browser that is not signed in to the page to sign in. It comes back to the page that it asked for, or
 * to the form that it sent, with the fields as they were filled, but without secrets.
 */
export function askToSignIn(request: FastifyRequest, reply: FastifyReply, provider: Provider | undefined) {
  const { method, url, body, viewer } = request;
  if (method === 'GET' || method === 'HEAD')
    return reply.redirect(url === '/' ? '/sign-in' : address('/sign-in', { next: url }), 303);
  if (!isForm(url)) return reply.redirect('/sign-in', 303);
  // A body that is too large for strangers was not read. The form comes back empty.
  if (typeof body !== 'object' || body === null)
    return reply.redirect(address('/sign-in', { next: formOf(request) }), 303);
  const problem = viewer.words.forms.sessionEnded;
  return sendSignIn(reply.code(401), provider, { problem, next: url, kept: JSON.stringify(keptTexts(body)) });
}

/** Returns the address of the form that a request sends: the browser names it, with what it is about. */
function formOf({ headers: { referer = '', host }, url }: FastifyRequest) {
  const from = URL.parse(referer);
  return from && from.host === host && from.pathname === url ? from.pathname + from.search : url;
}

/** Adds the pages to sign in and out with a password. */
export function addSignIn(
  app: FastifyInstance,
  { db, provider, cookies, signIn }: ConsoleContext,
  showForm: ShowForm,
) {
  app.get<{ Querystring: Texts }>('/sign-in', ({ query }, reply) =>
    sendSignIn(reply, provider, { next: query['next'] }),
  );
  app.post<{ Body: Static<typeof Credentials> }>(
    '/sign-in',
    { schema: { body: Credentials }, bodyLimit: MOST_BYTES },
    async (request, reply) => {
      const { name, password, next, kept } = request.body;
      const device = cookies.read(request, 'floodgate_device');
      const isWanted = () => !request.socket.destroyed;
      const signedIn = await signIn({ name, password, address: request.ip, device, isWanted });
      if (!signedIn) {
        const problem = request.viewer.words.signIn.wrong;
        return sendSignIn(reply.code(401), provider, { name, problem, next, kept });
      }
      const session = await openSession(db, signedIn.operatorId);
      cookies.set(reply, 'floodgate_session', session);
      cookies.set(reply, 'floodgate_device', signedIn.device, DEVICE_SECONDS);
      const path = pathOf(next);
      const typed = typedFields(kept);
      if (!typed || !isForm(path)) return reply.redirect(path, 303);
      request.operator = (await findPrincipal(db, session)) ?? null;
      return showForm(request, reply, path, typed);
    },
  );
  app.post('/sign-out', async ({ operator }, reply) => {
    if (operator) await revokeAccess(db, operator.accessId);
    cookies.set(reply, 'floodgate_session', '');
    return reply.redirect('/sign-in', 303);
  });
}

/** Returns the fields of a form that was kept. Undefined: there is none, or the text is none. */
function typedFields(kept = ''): Texts | undefined {
  try {
    const fields: unknown = JSON.parse(kept);
    return typeof fields === 'object' && fields !== null ? textsOf(textsIn(fields)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the texts among values that can be anything. */
const textsIn = (values: object): Sent =>
  Object.fromEntries(
    Object.entries(values).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
