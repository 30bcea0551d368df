import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { TextsBody } from './forms.ts';
import { inputFrom, type ConsoleContext } from './operations.ts';
import type { Row } from './pages.ts';
import { requireScope } from './principals.ts';
import { awayHtml, form, link, passLink, sendPage, table, type Texts } from './view.ts';

interface Found {
  attendees: Row[];
  cursor: number | null;
  more: boolean;
  shardsAway: number[];
}

/**
 * Adds the page that finds attendees by name or address. A search is a POST: browsers and proxies keep the addresses of pages, which must
 * not contain names.
 */
export function addAttendees(app: FastifyInstance, { db, operations }: ConsoleContext): void {
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
      const found = await operation.run({ db }, inputFrom(operation, given), operator.name);
      return sendPage(reply, title, show(given), resultsHtml(found as Found, given));
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      return sendPage(reply.code(422), title, show(given, error.rules));
    }
  });
}

function resultsHtml({ attendees, cursor, more, shardsAway }: Found, given: Texts): string {
  const rows = attendees.map(({ passReference, eventId, ...attendee }) => ({
    registration: passLink(passReference),
    event: link(`/events/${eventId}`, eventId),
    ...attendee,
  }));
  const next =
    cursor === null ? '<p>There are more. Give an event or more letters.</p>' : nextForm(given, cursor);
  return awayHtml(shardsAway) + table('Attendees', rows) + (more ? next : '');
}

const nextForm = (given: Texts, cursor: number) =>
  html`<form method="post" action="/attendees">
    !${Object.entries({ ...given, after: String(cursor) }).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <p><button>Next page</button></p>
  </form>`;
