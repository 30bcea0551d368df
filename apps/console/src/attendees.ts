import type { OperationContext } from '@floodgate/operators';
import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { inputFrom, type Texts } from './forms.ts';
import type { Operations } from './operations.ts';
import { requireScope } from './principals.ts';
import { awayHtml, form, link, sendPage, table, type Filled } from './view.ts';

interface Found {
  attendees: { passReference: string; eventId: number }[];
  cursor: number | null;
  more: boolean;
  shardsAway: number[];
}

/**
 * Adds the page that finds attendees by name or address. A search is a POST: browsers and proxies keep the addresses of pages, which must
 * not contain names.
 */
export function addAttendees(app: FastifyInstance, operations: Operations, context: OperationContext): void {
  const operation = operations.get('attendeeFind')!;
  const asked = { ...operation, summary: 'Find', input: Type.Omit(operation.input, ['after', 'limit']) };
  const show = (filled: Filled, results = '') =>
    form(asked, filled, '/registrations', '/attendees') + results;
  const title = 'Attendees';
  app.get<{ Querystring: Texts }>('/attendees', (request, reply) => {
    requireScope(request, operation.scope);
    return sendPage(reply, title, show({ given: request.query }));
  });
  app.post<{ Body: Texts }>(
    '/attendees',
    { schema: { body: Type.Record(Type.String(), Type.String()) } },
    async (request, reply) => {
      const operator = requireScope(request, operation.scope);
      const given = request.body;
      const answer = async () => {
        const found = await operation.run(context, inputFrom(operation, given), operator.name);
        return show({ given }, resultsHtml(found as Found, given));
      };
      const main = await answer().catch((error: unknown) => {
        if (!(error instanceof InvalidInput)) throw error;
        void reply.code(422);
        return show({ given, invalid: error.rules });
      });
      return sendPage(reply, title, main);
    },
  );
}

function resultsHtml({ attendees, cursor, more, shardsAway }: Found, given: Texts): string {
  const rows = attendees.map(({ passReference, eventId, ...attendee }) => ({
    registration: link(`/registrations?${new URLSearchParams({ passReference }).toString()}`, passReference),
    event: link(`/events/${eventId}`, eventId),
    ...attendee,
  }));
  const rest = more && cursor === null ? '<p>There are more. Give an event or more letters.</p>' : '';
  return (
    awayHtml(shardsAway) +
    table('Attendees', rows) +
    rest +
    (more && cursor !== null ? nextForm(given, cursor) : '')
  );
}

const nextForm = (given: Texts, cursor: number) =>
  html`<form method="post" action="/attendees">
    !${Object.entries({ ...given, after: String(cursor) }).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <p><button>Next page</button></p>
  </form>`;
