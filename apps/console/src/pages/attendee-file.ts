import type { FastifyInstance } from 'fastify';
import { requestOf } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { Refusal } from '../principals.ts';
import type { Texts } from '../view/html.ts';
import { filterIn } from './attendee-filter.ts';

const SCOPES = ['attendees:read'] as const;
const ENDINGS: Partial<Record<string, string>> = { ndjson: 'ndjson' };

/** Adds the file with the attendees that a filter selects, as the list shows them. */
export function addAttendeeFile(app: FastifyInstance, context: ConsoleContext) {
  app.get<{ Params: { eventId: string }; Querystring: Texts }>(
    '/events/:eventId/attendees/file',
    async (request, reply) => {
      const page = await requestOf(request, { scopes: SCOPES, isList: false }, context);
      const { format = 'csv', separator } = request.query;
      const { eventId } = request.params;
      const filter = filterIn(request.query, page.format.zone);
      const file = await page.read(context.operations.attendeeExportBy, {
        eventId,
        ...filter,
        format,
        separator,
      });
      if (!file) throw new Refusal(403, 'You may not do this');
      const name = `attendees-${eventId}.${ENDINGS[format] ?? 'csv'}`;
      const headers = {
        'content-type': file.headers.get('content-type')!,
        'content-disposition': `attachment; filename="${name}"`,
      };
      return reply.send(new Response(file.body, { headers }));
    },
  );
}
