import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { codeHtml } from './door-pages.ts';
import { inputFrom, type ConsoleContext } from './operations.ts';
import { problemOf, Refusal } from './problems.ts';
import { requireScope } from './principals.ts';
import { alertHtml, fields, form, sendPage, type Texts } from './view.ts';

/** Options of a route that takes a form. */
export const TextsBody = { schema: { body: Type.Record(Type.String(), Type.String()) } };

const CONSOLE = 'http://console';

/** Returns the page to show after an operation, which then says that it is done. */
function afterwards(back: string, id: string): string {
  const url = new URL(back, CONSOLE);
  url.searchParams.set('done', id);
  return url.pathname + url.search;
}

/** Returns the page of the console that a text names, otherwise its first page: a form must not lead to another site. */
function pageOf(text = ''): string {
  const url = URL.parse(text, CONSOLE);
  // Browsers skip control characters.
  const isPath = /^\/[^\\\p{Cc}]*$/u.test(text) && url?.origin === CONSOLE && !url.pathname.startsWith('//');
  return isPath ? text : '/';
}

/**
 * Adds a page with a form for each operation that is not a GET. After it, the browser returns to the page in `back`. Secrets and what an
 * operation has read are shown at once, because no other page has them.
 */
export function addForms(app: FastifyInstance, { db, log, operations }: ConsoleContext): void {
  const find = (id: string) => {
    const operation = operations.get(id);
    if (!operation || operation.method === 'GET') throw new Refusal(404, 'No such page');
    return operation;
  };
  app.get<{ Params: { id: string }; Querystring: Texts }>('/do/:id', (request, reply) => {
    const operation = find(request.params.id);
    requireScope(request, operation.scope);
    const { back, ...given } = request.query;
    return sendPage(reply, operation.summary, form(operation, given, pageOf(back)));
  });
  app.post<{ Params: { id: string }; Body: Texts }>('/do/:id', TextsBody, async (request, reply) => {
    const operation = find(request.params.id);
    const { id, scope, summary } = operation;
    const operator = requireScope(request, scope);
    const { back: asked, ...given } = request.body;
    const back = pageOf(asked);
    try {
      const result = await operation.run({ db }, inputFrom(operation, given), operator.name);
      return isSecret(result) || scope.endsWith(':read')
        ? sendPage(reply, summary, resultHtml(result as object, back))
        : reply.redirect(afterwards(back, id), 303);
    } catch (error) {
      const { status, title, detail = '', invalid } = problemOf(error as never, request, log);
      if (status >= 500) throw error;
      const note = error instanceof InvalidInput ? '' : `${title}: ${detail}`;
      return sendPage(reply.code(status), summary, alertHtml(note), form(operation, given, back, invalid));
    }
  });
}

const SECRETS = ['secretKey', 'secret', 'password', 'token', 'code'];

const isSecret = (result: unknown): result is object =>
  typeof result === 'object' && result !== null && SECRETS.some((name) => name in result);

const resultHtml = (result: object, back: string) =>
  html`<p role="status">
      Done. ${isSecret(result) ? 'Keep the secret now: it will not be shown again.' : ''}
    </p>
    !${'code' in result ? codeHtml(result) : fields(result)}
    <p><a href="${back}">Continue</a></p>`;
