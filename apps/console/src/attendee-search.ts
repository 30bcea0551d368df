import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import type { OperatorPrincipal } from '@floodgate/operators';
import { callerOf, filledInput, type ConsoleContext, type Operations } from './operations.ts';
import { requireScope } from './principals.ts';
import { awayHtml, eventLink, form, passLink, table, type Texts } from './view.ts';
import { sendPage } from './view/page.ts';

/** Options of a route that takes a form. */
const TextsBody = { schema: { body: Type.Record(Type.String(), Type.String()) } };

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
    return sendPage(reply, { title, parts: [show(request.query)] });
  });
  app.post<{ Body: Texts }>('/attendees', TextsBody, async (request, reply) => {
    const operator = requireScope(request, attendeeFind.scope);
    const given = request.body;
    try {
      return await sendPage(reply, { title, parts: [show(given), resultsHtml(await find(operator, given), given)] });
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      return sendPage(reply.code(422), { title, parts: [show(given, error.rules)] });
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
