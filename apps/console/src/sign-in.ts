import type { Database } from '@floodgate/database';
import { createSignIn, openSession, revokeAccess } from '@floodgate/operators';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { html } from 'ghtml';
import type { Provider } from './identity-provider.ts';
import { setSession } from './principals.ts';
import { sendPage } from './view.ts';

const Credentials = Type.Object({
  name: Type.String({ maxLength: 255 }),
  password: Type.String({ maxLength: 255 }),
});

const formHtml = (name: string, problem: string, provider?: Provider) =>
  html`!${problem && html`<p role="alert">${problem}</p>`}
    <form class="fields" method="post" action="/sign-in">
      <div class="field">
        <label for="name">Name</label>
        <input id="name" name="name" value="${name}" autocomplete="username" required />
      </div>
      <div class="field">
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
      </div>
      <p><button>Sign in</button></p>
    </form>
    !${provider && html`<p><a href="/sign-in/provider">Sign in at ${provider.issuer.host}</a></p>`}`;

/** Adds the pages to sign in and out with a password. */
export function addSignIn(app: FastifyInstance, db: Database, isSecure: boolean, provider?: Provider): void {
  const signIn = createSignIn(db);
  const show = (reply: FastifyReply, name = '', problem = '') =>
    sendPage(reply, 'Sign in', formHtml(name, problem, provider));
  app.get('/sign-in', (_request, reply) => show(reply));
  app.post<{ Body: { name: string; password: string } }>(
    '/sign-in',
    { schema: { body: Credentials } },
    async ({ body: { name, password } }, reply) => {
      const operatorId = await signIn(name, password);
      if (operatorId === undefined) {
        const problem =
          'The name or the password is wrong, or there were too many attempts. Wait for a minute.';
        return show(reply.code(401), name, problem);
      }
      setSession(reply, await openSession(db, operatorId), isSecure);
      return reply.redirect('/', 303);
    },
  );
  app.post('/sign-out', async ({ operator }, reply) => {
    if (operator) await revokeAccess(db, operator.accessId);
    setSession(reply, '', isSecure);
    return reply.redirect('/sign-in', 303);
  });
}
