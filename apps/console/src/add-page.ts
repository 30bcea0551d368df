import { differencesOf, readAuditLog, type AuditEntry } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { eventsWith, Forbidden } from '@floodgate/operators';
import type { Caller, Operation, OperatorPrincipal, Query, Scope } from '@floodgate/operators';
import type { TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { admitToPage, callerOf, mayOpen, readBy } from './operations.ts';
import type { ConsoleContext, Filled, Operations } from './operations.ts';
import { requireScope } from './principals.ts';
import { actionLink, Html, sendPage, table, wordsOf, type Texts } from './view.ts';

/** The request for a page, and what the page shows for its operator. */
export interface PageRequest {
  operator: OperatorPrincipal;
  /** Returns whether the operator has a scope for what the page shows. */
  may: Caller['may'];
  db: Database;
  operations: Operations;
  params: Record<'eventId' | 'ticketId' | 'partnerId' | 'webhookId', string>;
  query: Texts;
  /** Reads by an operation. Resolves to undefined if the operator lacks its scope for what is read. */
  read<Input extends TObject, Result>(
    this: void,
    operation: Query<Input, Result>,
    given: Filled<Input>,
  ): Promise<Result | undefined>;
  /**
   * Returns a link to the form of an operation, with these fields filled. Empty if the operator lacks its
   * scope for what the page shows.
   */
  action<Input extends TObject>(
    this: void,
    operation: Operation<Input>,
    given: Partial<Filled<Input>>,
    name?: string,
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

async function requestOf(request: FastifyRequest, rules: PageRules, context: ConsoleContext) {
  const operator = requireScope(request, ...rules.scopes);
  const query = request.query as Texts;
  const params = request.params as PageRequest['params'];
  const address = { passReference: query['passReference'] || undefined, ...params };
  const { may } = await admitToPage(context, operator, rules.scopes, { address, isList: rules.isList });
  const caller = callerOf(operator);
  const page: PageRequest = {
    operator,
    may,
    db: context.db,
    operations: context.operations,
    params,
    query,
    read: (operation, given) => readBy(context, operation, given, caller).catch(nothingIfForbidden),
    action: (operation, given, name) =>
      mayOpen(operator, operation, may)
        ? actionLink(operation, { ...given, back: request.url }, name)
        : new Html(''),
  };
  return page;
}

function nothingIfForbidden(error: unknown) {
  if (error instanceof Forbidden) return undefined;
  throw error;
}

/** Resolves to a title, and the parts of a page as HTML. */
export type Show = (request: PageRequest) => Promise<[title: string, ...parts: string[]]>;

/**
 * Returns a function that adds a page, for operators with these scopes. `isList`: a page without an event in
 * its address is also for operators who have the scopes for some events.
 */
export const adder =
  (app: FastifyInstance, context: ConsoleContext, isList = true) =>
  (path: string, scopes: readonly Scope[], show: Show) =>
    app.get<{ Querystring: Texts }>(path, async (request, reply) => {
      const page = await requestOf(request, { scopes, isList }, context);
      const [title, ...parts] = await show(page);
      const ended = Object.values(context.operations).find(({ id }) => id === request.query['done']);
      if (ended) parts.unshift(doneHtml(ended.summary, await latestChange(page, ended)));
      return sendPage(reply, title, ...parts);
    });

/** The page after a form shows what the form has saved. */
const LATEST_MS = 60_000;

async function latestChange({ db, operator }: PageRequest, { action }: Pick<Operation, 'action'>) {
  const events = eventsWith(operator, 'audit:read');
  if (action === undefined || events?.length === 0) return undefined;
  const since = new Date(Date.now() - LATEST_MS);
  const [latest] = await readAuditLog(db, { actor: operator.name, action, since, events, limit: 1 });
  return latest;
}

function doneHtml(summary: string, change?: AuditEntry) {
  const saved = (change ? differencesOf(change) : []).map(({ name, was, is, isNew }) => {
    return { setting: wordsOf(name), ...(!isNew && { before: was }), saved: is };
  });
  return html`<p role="status">Done: ${summary}</p>
    !${saved.length > 0 ? table(`Saved: ${change!.subject}`, saved, (row) => row) : ''}`;
}
