import type { FastifyInstance } from 'fastify';
import { adder } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { eventPage } from './event-page.ts';
import { addPreviewFrame, showPreview } from './mail-preview.ts';
import { showMessages } from './messages.ts';

/** Adds the pages about the e-mails of an event. */
export function addMessagePages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  add('/events/:eventId/messages', ['mail:read'], eventPage('messages', showMessages));
  add('/events/:eventId/messages/preview', ['mail:read'], eventPage('messages', showPreview));
  addPreviewFrame(app, context);
}
