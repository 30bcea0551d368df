import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { codeHtml } from './door-pages.ts';
import { inputFrom, runFor, type ConsoleContext } from './operations.ts';
import { problemOf, Refusal, requireScope } from './principals.ts';
import { shownTo } from './shown-to.ts';
import { alertHtml, awayHtml, eventLink, fields, form, passLink, sendPage, table } from './view.ts';
import type { Row, Texts } from './view.ts';

/** Options of a route that takes a form. */
const TextsBody = { schema: { body: Type.Record(Type.String(), Type.String()) } };

const CONSOLE = 'http://console';

/** Returns the page to show after an operation, which then says that it is done. */
function afterwards(back: string, id: string) {
  const url = new URL(back, CONSOLE);
  url.searchParams.set('done', id);
  return url.pathname + url.search;
}

/** Returns the page of the console that a text names, otherwise its first page: a form must not lead to another site. */
function pageOf(text = '') {
  const url = URL.parse(text, CONSOLE);
  // Browsers skip control characters.
  const isPath = /^\/[^\\\p{Cc}]*$/u.test(text) && url?.origin === CONSOLE && !url.pathname.startsWith('//');
  return isPath ? text : '/';
}

/**
 * Adds a page with a form for each operation that is not a GET. After it, the browser returns to the page in `back`. Secrets and what an
 * operation has read are shown at once, because no other page has them.
 */
export function addForms(app: FastifyInstance, context: ConsoleContext) {
  const { log, operations } = context;
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
      const result = await runFor(context, operation, inputFrom(operation, given), operator);
      return isSecret(result) || scope.endsWith(':read')
        ? sendPage(reply, summary, resultHtml(shownTo(operator, result) as object, back))
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

const isSecret = (result: unknown) => SECRETS.some((name) => name in Object(result));

const resultHtml = (result: object, back: string) =>
  html`<p role="status">
      Done. ${isSecret(result) ? 'Keep the secret now: it will not be shown again.' : ''}
    </p>
    !${'code' in result ? codeHtml(result) : fields(result)}
    <p><a href="${back}">Continue</a></p>`;

/**
 * Adds the page that finds attendees by name or address. A search is a POST: browsers and proxies keep the addresses of pages, which must
 * not contain names.
 */
export function addAttendees(app: FastifyInstance, context: ConsoleContext) {
  const { operations } = context;
  const operation = operations.get('attendeeFind')!;
  const asked = { ...operation, summary: 'Find', input: Type.Omit(operation.input, ['after', 'limit']) };
  const show = (given: Texts, invalid?: Texts) => form(asked, given, '/registrations', invalid, '/attendees');
  const title = 'Attendees';
  app.get<{ Querystring: Texts }>('/attendees', (request, reply) => {
    requireScope(request, operation.scope);
    return sendPage(reply, title, show(request.query));
  });
  app.post<{ Body: Texts }>('/attendees', TextsBody, async (request, reply) => {
    const operator = requireScope(request, operation.scope);
    const given = request.body;
    try {
      const found = await runFor(context, operation, inputFrom(operation, given), operator);
      return sendPage(reply, title, show(given), resultsHtml(found as Row, given));
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      return sendPage(reply.code(422), title, show(given, error.rules));
    }
  });
}

function resultsHtml({ attendees, cursor, more, shardsAway }: Row, given: Texts) {
  const found = table('Attendees', attendees as Row[], ({ passReference, eventId, ...attendee }) => {
    return { registration: passLink(passReference), event: eventLink(eventId), ...attendee };
  });
  const next =
    cursor === null ? '<p>There are more. Give an event or more letters.</p>' : nextForm(given, cursor);
  return awayHtml(shardsAway) + found + (more ? next : '');
}

const nextForm = (given: Texts, cursor: number) =>
  html`<form method="post" action="/attendees">
    !${Object.entries({ ...given, after: String(cursor) }).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <p><button>Next page</button></p>
  </form>`;
