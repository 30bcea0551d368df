import { openSession, revokeAccess } from '@floodgate/operators';
import { Type, type Static } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { html } from 'ghtml';
import type { Provider } from './identity-provider.ts';
import type { ConsoleContext } from './operations.ts';
import { alertHtml, inputField, sendPage } from './view.ts';

const Text = Type.String({ maxLength: 255 });
const Credentials = Type.Object({ name: Text, password: Text });

/** Of a body with a name and a password. */
const MOST_BYTES = 4_096;

const WRONG = 'The name or the password is wrong, or there were too many attempts. Wait for a minute.';

/** How long a browser is known after a sign-in. */
export const DEVICE_SECONDS = 180 * 86_400;

const formHtml = (name: string, problem: string, provider?: Provider) =>
  html`!${alertHtml(problem)}
    <form class="fields" method="post" action="/sign-in">
      !${inputField('name', html`value="${name}" autocomplete="username" required`)}
      !${inputField('password', 'type="password" autocomplete="current-password" required')}
      <p><button>Sign in</button></p>
    </form>
    !${provider && html`<p><a href="/sign-in/provider">Sign in at ${provider.issuer.host}</a></p>`}`;

/** Adds the pages to sign in and out with a password. */
export function addSignIn(app: FastifyInstance, { db, provider, cookies, signIn }: ConsoleContext) {
  const show = (reply: FastifyReply, name = '', problem = '') =>
    sendPage(reply, 'Sign in', formHtml(name, problem, provider));
  app.get('/sign-in', (_request, reply) => show(reply));
  app.post<{ Body: Static<typeof Credentials> }>(
    '/sign-in',
    { schema: { body: Credentials }, bodyLimit: MOST_BYTES },
    async (request, reply) => {
      const { name, password } = request.body;
      const device = cookies.read(request, 'floodgate_device');
      const isWanted = () => !request.socket.destroyed;
      const signedIn = await signIn({ name, password, address: request.ip, device, isWanted });
      if (!signedIn) return show(reply.code(401), name, WRONG);
      cookies.set(reply, 'floodgate_session', await openSession(db, signedIn.operatorId));
      cookies.set(reply, 'floodgate_device', signedIn.device, DEVICE_SECONDS);
      return reply.redirect('/', 303);
    },
  );
  app.post('/sign-out', async ({ operator }, reply) => {
    if (operator) await revokeAccess(db, operator.accessId);
    cookies.set(reply, 'floodgate_session', '');
    return reply.redirect('/sign-in', 303);
  });
}
