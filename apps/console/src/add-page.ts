import type { Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events/console';
import { Forbidden } from '@floodgate/operators';
import type { Caller, Operation, OperatorPrincipal, Query, Scope } from '@floodgate/operators';
import type { TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { admitToPage, callerOf, mayOpen, readBy } from './operations.ts';
import type { ConsoleContext, Filled, Operations } from './operations.ts';
import { EVENT_FIELDS } from './event-fields.ts';
import { requireScope } from './principals.ts';
import { askedOf, wordsOfForm } from './forms/asked.ts';
import { doneHtml } from './forms/done.ts';
import type { Format } from './view/format.ts';
import { address, buttonLink, NOTHING, type Html, type LinkLook, type Texts } from './view/html.ts';
import { sendPage, type Page } from './view/page.ts';
import type { Viewer } from './view/viewer.ts';
import type { Words } from './words/index.ts';

/** The request for a page, and what the page shows for its operator. */
export interface PageRequest {
  operator: OperatorPrincipal;
  /** Returns whether the operator has a scope for what the page shows. */
  may: Caller['may'];
  db: Database;
  operations: Operations;
  /** The address of the scanner for browsers. Undefined: not known. */
  doorUrl: string | undefined;
  /** Those of its path. The others are undefined. */
  params: Record<
    'eventId' | 'ticketId' | 'partnerId' | 'webhookId' | 'passReference' | 'jobId' | 'gateId' | 'deviceId',
    string
  >;
  query: Texts;
  /** Its address. */
  url: string;
  viewer: Viewer;
  words: Words;
  /** In the zone of the event of the page, otherwise in that of the person. */
  format: Format;
  /** Reads by an operation. Resolves to undefined if the operator lacks its scope for what is read. */
  read<Input extends TObject, Result>(
    this: void,
    operation: Query<Input, Result>,
    given: Filled<Input>,
  ): Promise<Result | undefined>;
  /**
   * Returns a link to the form of an operation, or of a part of it, with these fields filled. Empty if the
   * operator lacks its scope for what the page shows.
   */
  action<Input extends TObject>(
    this: void,
    operation: Operation<Input>,
    given: Partial<Filled<Input>>,
    name?: string,
    look?: LinkLook & { part?: string },
  ): Html;
}

/** The scopes of a page, and what it is about. */
interface PageRules {
  scopes: readonly Scope[];
  /**
   * Without something of an event in its address, it lists things of events. Otherwise it is about no event.
   */
  isList: boolean;
}

/**
 * Resolves to what a page needs to show something to the sender of a request. Throws as operations do. `given`
 * names what the page is about, in addition to its address.
 */
export async function requestOf(
  request: FastifyRequest,
  { scopes, isList }: PageRules,
  context: ConsoleContext,
  given: Texts = {},
) {
  const operator = requireScope(request, ...scopes);
  const query = request.query as Texts;
  const params = request.params as PageRequest['params'];
  const passReference = params.passReference ?? given['passReference'] ?? query['passReference'];
  const named = { ...given, ...params, passReference: passReference || undefined };
  const { may } = await admitToPage(context, operator, scopes, { address: named, isList });
  const caller = callerOf(operator);
  const { viewer } = request;
  const zone = await zoneOfPage(context, named);
  const formAt = askedOf(context.operations);
  const page: PageRequest = {
    operator,
    may,
    db: context.db,
    operations: context.operations,
    doorUrl: context.doorUrl,
    params,
    query,
    url: request.url,
    viewer,
    words: viewer.words,
    format: viewer.format.inZone(zone),
    read: (operation, fields) => readBy(context, operation, fields, caller).catch(nothingIfForbidden),
    action: (operation, fields, name, { part, ...look } = {}) => {
      if (!mayOpen(operator, operation, may)) return NOTHING;
      const texts = Object.entries<unknown>({ ...fields, back: backOf(request) });
      const path = `/do/${operation.id}${part === undefined ? '' : `/${part}`}`;
      const filled = Object.fromEntries(texts.map(([field, value]) => [field, String(value)]));
      const asked = formAt({ id: operation.id, ...(part !== undefined && { part }) });
      return buttonLink(address(path, filled), name ?? wordsOfForm(viewer.words, asked, filled).link, look);
    },
  };
  return page;
}

/** Returns the address to which a form returns: that of the page without what it says about the last change. */
function backOf({ url }: FastifyRequest) {
  const { pathname, searchParams } = new URL(url, 'http://console');
  if (pathname.startsWith('/do/')) return searchParams.get('back') ?? '/';
  searchParams.delete('done');
  return address(pathname, Object.fromEntries(searchParams));
}

/** Resolves to the zone of the event of a page. Null: it is about none, or the event has no zone. */
async function zoneOfPage({ db }: ConsoleContext, named: Partial<Record<string, string>>) {
  for (const [field, { find }] of Object.entries(EVENT_FIELDS)) {
    const value = named[field];
    if (!value) continue;
    const [eventId] = await find(db, value);
    if (eventId === undefined) continue;
    const event = await findEvent(db, eventId).catch(() => undefined);
    if (event) return event.timeZone;
  }
  return null;
}

function nothingIfForbidden(error: unknown) {
  if (error instanceof Forbidden) return undefined;
  throw error;
}

/** Resolves to the content of a page. */
export type Show = (request: PageRequest) => Promise<Page | { redirectTo: string; title?: never }>;

/**
 * Returns a function that adds a page, for operators with these scopes. `isList`: a page without an event in
 * its address is also for operators who have the scopes for some events.
 */
export const adder =
  (app: FastifyInstance, context: ConsoleContext, isList = true) =>
  (path: string, scopes: readonly Scope[], show: Show) =>
    app.get<{ Querystring: Texts }>(path, async (request, reply) => {
      const page = await requestOf(request, { scopes, isList }, context);
      const shown = await show(page);
      if (shown.title === undefined) return reply.redirect(shown.redirectTo, 303);
      const done = await doneHtml(page);
      return sendPage(reply, { ...shown, parts: [done, ...shown.parts] });
    });
