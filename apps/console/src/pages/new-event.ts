import type { Event } from '@floodgate/events/console';
import { InvalidInput } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, type PageRequest } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { problemOf } from '../principals.ts';
import { address, link, type Texts } from '../view/html.ts';
import { sendPage } from '../view/page.ts';
import { ruleWords } from '../words/index.ts';
import { newEventHtml, type NewEventForm } from './new-event-form.ts';
import { createPlanned, MORE_ROWS, rowsOf } from './new-event-plan.ts';

export const NEW_EVENT = '/events/new';

const Sent = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]));
type Sent = Partial<Record<string, string | string[]>>;

const RULES = { scopes: ['events:write'], isList: false } as const;

/**
 * Adds the page that makes an event with all that its sale needs. Returns a function that answers with the form
 * as somebody typed it before the session ended.
 */
export function addNewEvent(app: FastifyInstance, context: ConsoleContext) {
  const show = async (request: FastifyRequest, reply: FastifyReply, form: Partial<NewEventForm>) => {
    const page = await requestOf(request, RULES, context);
    const { given = await proposedBy(page), invalid = {}, note = '' } = form;
    const { shell, newEvent } = page.words;
    return sendPage(reply, {
      title: newEvent.title,
      about: newEvent.about,
      path: [link('/', shell.pages.events)],
      parts: [newEventHtml(page, { given, invalid, note, partners: await partnersOf(page) })],
      help: 'operate/launch',
    });
  };
  app.get(NEW_EVENT, (request, reply) => show(request, reply, {}));
  app.post<{ Body: Sent }>(NEW_EVENT, { schema: { body: Sent } }, async (request, reply) => {
    const given = textsOf(request.body);
    const page = await requestOf(request, RULES, context);
    if (given['more'] !== undefined)
      return show(request, reply, { given: { ...given, rows: String(rowsOf(given) + MORE_ROWS) } });
    try {
      const { id } = await createPlanned(context, page, given);
      return await reply.redirect(address(`/events/${id}`, { made: 'true' }), 303);
    } catch (error) {
      const { status, title, detail = '', invalid = {} } = problemOf(error, request, context.log);
      if (status >= 500 || status === 401) throw error;
      const note = error instanceof InvalidInput ? '' : `${title}: ${ruleWords(page.words, detail)}`;
      return show(request, reply.code(status), { given, invalid, note });
    }
  });
  return (request: FastifyRequest, reply: FastifyReply, typed: Texts) =>
    show(request, reply, { given: typed });
}

/** Returns the fields as texts. The partners that were chosen are a list. */
const textsOf = (sent: Sent): Texts =>
  Object.fromEntries(
    Object.entries(sent).map(([name, text]) => [name, Array.isArray(text) ? text.join(',') : (text ?? '')]),
  );

/**
 * Resolves to what a new event probably has: the zone and currency of the last one, and the language of the
 * person.
 */
async function proposedBy({ read, operations, format, viewer }: PageRequest): Promise<Texts> {
  const latest = (await read(operations.eventList, {}))?.at(-1);
  return {
    timeZone: latest?.timeZone ?? format.zone,
    currency: latest?.currency ?? '',
    language: languageOf(viewer, latest),
    replyTo: latest?.replyTo ?? '',
    mode: 'live',
    duplicatePolicy: 'allow',
    sendsMail: 'true',
    mailOperatorCancels: 'true',
    mailPartnerCancels: 'false',
  };
}

/** English is the language of everybody who has chosen none, so it says nothing about attendees. */
const languageOf = ({ language }: PageRequest['viewer'], latest?: Pick<Event, 'language'>) =>
  language === 'en' ? (latest?.language ?? language) : language;

/** Resolves to the partners that can sell an event. The house sells every event anyway. */
async function partnersOf({ read, operations }: PageRequest) {
  const partners = (await read(operations.partnerList, {})) ?? [];
  return partners.filter(({ isHouse, disabledAt }) => !isHouse && !disabledAt);
}
