import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { Forbidden, type Operation, type OperatorPrincipal } from '@floodgate/operators';
import { callerOf, filledInput, mayOpen, type ConsoleContext, type Operations } from './operations.ts';
import { problemOf, Refusal, requireScope } from './principals.ts';
import { resultPages } from './result-pages.ts';
import { alertHtml, awayHtml, eventLink, form, passLink, sendPage, table, type Texts } from './view.ts';

/** Options of a route that takes a form. */
const TextsBody = { schema: { body: Type.Record(Type.String(), Type.String()) } };

const CONSOLE = 'http://console';

/** Returns the page to show after an operation, which then says that it is done. */
function afterwards(back: string, id: string) {
  const url = new URL(back, CONSOLE);
  url.searchParams.set('done', id);
  return url.pathname + url.search;
}

/**
 * Returns the page of the console that a text names, otherwise its first page: a form must not lead to
 * another site.
 */
function pageOf(text = '') {
  const url = URL.parse(text, CONSOLE);
  // Browsers skip control characters.
  const isPath = /^\/[^\\\p{Cc}]*$/u.test(text) && url?.origin === CONSOLE && !url.pathname.startsWith('//');
  return isPath ? text : '/';
}

/**
 * Adds a page with a form for each operation that is not a GET. After it, the browser returns to the page in
 * `back`, or gets the result, if no other page has it.
 */
export function addForms(app: FastifyInstance, context: ConsoleContext) {
  const { db, log, operations } = context;
  const pages = resultPages(operations);
  const byId = new Map<string, Operation>(Object.values(operations).map((one) => [one.id, one]));
  const find = (id: string) => {
    const operation = byId.get(id);
    if (!operation || operation.method === 'GET') throw new Refusal(404, 'No such page');
    return operation;
  };
  const formOf = ({ id, input, summary }: Operation, given: Texts, back: string, invalid?: Texts) =>
    form({ summary, input, action: `/do/${id}`, given, back, invalid });
  app.get<{ Params: { id: string }; Querystring: Texts }>('/do/:id', (request, reply) => {
    const operation = find(request.params.id);
    const operator = requireScope(request, operation.scope);
    if (!mayOpen(operator, operation)) throw new Forbidden(operation.scope, true);
    const { back, ...given } = request.query;
    return sendPage(reply, operation.summary, formOf(operation, given, pageOf(back)));
  });
  const submit = async (
    operation: Operation,
    request: FastifyRequest<{ Body: Texts }>,
    reply: FastifyReply,
  ) => {
    const { id, input, scope, summary } = operation;
    const operator = requireScope(request, scope);
    const { back: asked, ...given } = request.body;
    const back = pageOf(asked);
    const filled = filledInput(input, given);
    try {
      const page = pages.get(id);
      if (page) return sendPage(reply, summary, await page(db, filled, operator), continueHtml(back));
      await operation.run(db, filled, callerOf(operator));
      return reply.redirect(afterwards(back, id), 303);
    } catch (error) {
      const { status, title, detail = '', invalid } = problemOf(error, request, log);
      if (status >= 500) throw error;
      const note = error instanceof InvalidInput ? '' : `${title}: ${detail}`;
      return sendPage(reply.code(status), summary, alertHtml(note), formOf(operation, given, back, invalid));
    }
  };
  app.post<{ Params: { id: string }; Body: Texts }>('/do/:id', TextsBody, (request, reply) =>
    submit(find(request.params.id), request, reply),
  );
  for (const operation of byId.values()) {
    const { id, bodyLimitBytes } = operation;
    if (bodyLimitBytes === undefined) continue;
    // A form has three bytes for most characters that are neither letters nor digits.
    const options = { ...TextsBody, bodyLimit: 2 * bodyLimitBytes };
    app.post<{ Body: Texts }>(`/do/${id}`, options, (request, reply) => submit(operation, request, reply));
  }
}

const continueHtml = (back: string) => html`<p><a href="${back}">Continue</a></p>`;

/** The fields of a search that a person fills. The others come from the link to the next page. */
const NOT_ASKED = ['after', 'before', 'limit'] as const;

/**
 * Adds the page that finds attendees. A search is a POST: browsers and proxies keep the
 * addresses of pages, which must not contain names.
 */
export function addAttendees(app: FastifyInstance, { db, operations: { attendeeFind } }: ConsoleContext) {
  const input = Type.Omit(attendeeFind.input, NOT_ASKED);
  const show = (given: Texts, invalid?: Texts) =>
    form({ summary: 'Find', input, action: '/attendees', given, back: '/registrations', invalid });
  const find = async (operator: OperatorPrincipal, given: Texts) =>
    attendeeFind.run(db, filledInput(attendeeFind.input, given), callerOf(operator));
  const title = 'Attendees';
  app.get<{ Querystring: Texts }>('/attendees', (request, reply) => {
    requireScope(request, attendeeFind.scope);
    return sendPage(reply, title, show(request.query));
  });
  app.post<{ Body: Texts }>('/attendees', TextsBody, async (request, reply) => {
    const operator = requireScope(request, attendeeFind.scope);
    const given = request.body;
    try {
      return sendPage(reply, title, show(given), resultsHtml(await find(operator, given), given));
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      return sendPage(reply.code(422), title, show(given, error.rules));
    }
  });
}

/** A page of attendees that were found. */
type Found = Awaited<ReturnType<Operations['attendeeFind']>>;

function resultsHtml(page: Found, given: Texts) {
  const found = table('Attendees', page.attendees, (attendee) => ({
    kind: attendee.kind,
    registration: attendee.passReference === null ? null : passLink(attendee.passReference),
    event: eventLink(attendee.eventId),
    state: attendee.state,
    ticketId: attendee.ticketId,
    partnerId: attendee.partnerId,
    fullName: attendee.fullName,
    emailAddress: attendee.emailAddress,
    phoneNumber: attendee.phoneNumber,
    partnerReference: attendee.partnerReference,
  }));
  const count = html`<p>Found: ${page.moreThanTotal ? 'more than ' : ''}${String(page.total)}</p>`;
  const note = page.incomplete ? '<p>Older registrations are still being added to the search.</p>' : '';
  return [
    awayHtml(page.shardsAway),
    count,
    note,
    found,
    pageForm('Previous page', given, 'before', page.previous),
    pageForm('Next page', given, 'after', page.cursor),
  ].join('');
}

/** Returns the form that shows the page at a cursor. Null: there is no such page. */
function pageForm(title: string, given: Texts, name: 'after' | 'before', cursor: number | null) {
  if (cursor === null) return '';
  const { after: _after, before: _before, ...search } = given;
  return html`<form method="post" action="/attendees">
    !${Object.entries({ ...search, [name]: String(cursor) }).map(
      ([field, value]) => html`<input type="hidden" name="${field}" value="${value}" />`,
    )}
    <p><button>${title}</button></p>
  </form>`;
}
