import { valueOf, type Operation } from '@floodgate/operators';
import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { html } from 'ghtml';
import { codeHtml } from './door-pages.ts';
import type { ConsoleContext, Operations } from './operations.ts';
import { problemOf, Refusal } from './problems.ts';
import { requireScope } from './principals.ts';
import { fields, form, sendPage, type Filled } from './view.ts';

/** The fields of a form. */
export type Texts = Record<string, string>;

const CONSOLE = 'http://console';

/** Returns the page to show after an operation, which then says that it is done. */
function afterwards(back: string, id: string): string {
  const url = new URL(back, CONSOLE);
  url.searchParams.set('done', id);
  return url.pathname + url.search;
}

/** Whether a text is a page of the console: a form must not lead to another site. Browsers skip control characters. */
function isPath(text: string | undefined): text is string {
  const url = URL.parse(text ?? '', CONSOLE);
  return /^\/[^\\\p{Cc}]*$/u.test(text ?? '') && url?.origin === CONSOLE && !url.pathname.startsWith('//');
}

/**
 * Adds a page with a form for each operation that is not a GET. After it, the browser returns to the page in `back`. Secrets and what an
 * operation has read are shown at once, because no other page has them.
 */
export function addForms(app: FastifyInstance, operations: Operations, context: ConsoleContext): void {
  const find = (id: string) => {
    const operation = operations.get(id);
    if (!operation || operation.method === 'GET') throw new Refusal(404, 'No such page');
    return operation;
  };
  app.get<{ Params: { id: string }; Querystring: Texts }>('/do/:id', (request, reply) => {
    const operation = find(request.params.id);
    requireScope(request, operation.scope);
    const { back, ...given } = request.query;
    return sendForm(reply, operation, { given }, isPath(back) ? back : '/');
  });
  app.post<{ Params: { id: string }; Body: Texts }>(
    '/do/:id',
    { schema: { body: Type.Record(Type.String(), Type.String()) } },
    async (request, reply) => {
      const operation = find(request.params.id);
      const operator = requireScope(request, operation.scope);
      const { back: asked, ...given } = request.body;
      const back = isPath(asked) ? asked : '/';
      const input = inputFrom(operation, given);
      try {
        const result = await operation.run(context, input, operator.name);
        return isSecret(result) || isReading(operation)
          ? sendPage(reply, operation.summary, resultHtml(result as object, back))
          : reply.redirect(afterwards(back, operation.id), 303);
      } catch (error) {
        const { status, title, detail, invalid } = problemOf(error as never, request, context.log);
        if (status >= 500) throw error;
        const note = error instanceof InvalidInput ? '' : `${title}: ${detail ?? ''}`;
        return sendForm(reply.code(status), operation, { given, ...(invalid && { invalid }) }, back, note);
      }
    },
  );
}

/** Returns the values of the fields that are filled. */
export function inputFrom({ input: { properties } }: Operation, given: Texts): Record<string, unknown> {
  const filled = Object.entries(given).filter(([name, text]) => name in properties && text !== '');
  return Object.fromEntries(filled.map(([name, text]) => [name, valueOf(properties[name]!, text)]));
}

function sendForm(reply: FastifyReply, operation: Operation, filled: Filled, back: string, note = '') {
  const main = html`!${note && html`<p role="alert">${note}</p>`}!${form(operation, filled, back)}`;
  return sendPage(reply, operation.summary, main);
}

const SECRETS = ['secretKey', 'secret', 'password', 'token', 'code'];

const isSecret = (result: unknown): result is object =>
  typeof result === 'object' && result !== null && SECRETS.some((name) => name in result);

const isReading = ({ scope }: Operation) => scope.endsWith(':read');

const resultHtml = (result: object, back: string) =>
  html`<p role="status">
      Done. ${isSecret(result) ? 'Keep the secret now: it will not be shown again.' : ''}
    </p>
    !${'code' in result ? codeHtml(result) : fields(result)}
    <p><a href="${back}">Continue</a></p>`;
