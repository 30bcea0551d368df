import { findPrincipal } from '@floodgate/operators';
import { withDeadline } from '@floodgate/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { pagesIn, readHelp, titleOf } from '../help.ts';
import type { ConsoleContext } from '../operations.ts';
import { Refusal } from '../principals.ts';
import { card, link, rows } from '../view/html.ts';
import { sendPage } from '../view/page.ts';

/** Help must appear while Postgres is down: then without the menu of the person. */
const PERSON_WITHIN_MS = 1_000;

/**
 * Adds the documents of operators. They are open to everybody: they contain nothing of the installation, and the
 * runbook is needed most when no session can be looked up.
 */
export function addHelpPages(app: FastifyInstance, context: ConsoleContext) {
  app.get('/help', async (request, reply) => {
    await findPerson(request, context);
    return showContents(reply);
  });
  app.get<{ Params: { '*': string } }>('/help/*', async (request, reply) => {
    const page = await readHelp(request.params['*']);
    await findPerson(request, context);
    if (!page) throw new Refusal(404, 'No such page');
    const { words } = request.viewer;
    const text = html`<article class="card help-text" lang="en">!${page.html}</article>`;
    const note = words.help.language && html`<p class="hint">${words.help.language}</p>`;
    const above = [link('/help', words.help.title)];
    return sendPage(reply, {
      title: page.title,
      titleLanguage: 'en',
      path: above,
      parts: [note, text],
      help: '',
    });
  });
}

async function findPerson(request: FastifyRequest, { db, cookies }: ConsoleContext) {
  const session = cookies.read(request, 'floodgate_session');
  const found = session ? findPrincipal(db, session).catch(() => undefined) : undefined;
  request.operator = (found && (await withDeadline(found, PERSON_WITHIN_MS, () => undefined))) ?? null;
}

function showContents(reply: FastifyReply) {
  const { words } = reply.request.viewer;
  const listOf = (folder: Parameters<typeof pagesIn>[0]) =>
    html`<div lang="en">
      !${rows(...pagesIn(folder).map((name) => link(`/help/${name}`, titleOf(name))))}
    </div>`;
  const { operate, guide, reference, title, language } = words.help;
  const parts = [
    language && html`<p class="hint">${language}</p>`,
    card(operate, listOf('operate')),
    card(guide, listOf('guide')),
    card(reference, listOf('reference')),
  ];
  return sendPage(reply, { title, parts, help: '' });
}
