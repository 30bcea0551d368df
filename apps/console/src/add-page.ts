import { differencesOf, readAuditLog, type AuditEntry } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { mayUse, type Operation, type OperatorPrincipal, type Query, type Scope } from '@floodgate/operators';
import type { TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { callerOf, readBy, type ConsoleContext, type Filled, type Operations } from './operations.ts';
import { requireScope } from './principals.ts';
import { shownTo } from './shown-to.ts';
import { actionLink, sendPage, table, wordsOf, type Html, type Texts } from './view.ts';

/** The request for a page, and what the page shows for its operator. */
export interface PageRequest {
  operator: OperatorPrincipal;
  db: Database;
  operations: Operations;
  params: Record<'eventId' | 'ticketId' | 'partnerId' | 'webhookId', string>;
  query: Texts;
  /** Reads by an operation. Resolves to undefined if the operator lacks its scope. */
  read<Input extends TObject, Result>(
    this: void,
    operation: Query<Input, Result>,
    given: Filled<Input>,
  ): Promise<Result | undefined>;
  /**
   * Returns a link to the form of an operation, with these fields filled. Empty if the operator lacks its
   * scope.
   */
  action<Input extends TObject>(
    this: void,
    operation: Operation<Input>,
    given: Partial<Filled<Input>>,
    name?: string,
  ): Html;
}

function requestOf(request: FastifyRequest, scopes: readonly Scope[], context: ConsoleContext): PageRequest {
  const operator = requireScope(request, ...scopes);
  return {
    operator,
    db: context.db,
    operations: context.operations,
    params: request.params as PageRequest['params'],
    query: request.query as Texts,
    read: async (operation, given) =>
      mayUse(operator, operation.scope)
        ? shownTo(operator, await readBy(context, operation, given, callerOf(operator)))
        : undefined,
    action: (operation, given, name) =>
      actionLink(operator, operation, { ...given, back: request.url }, name),
  };
}

/** Resolves to a title, and the parts of a page as HTML. */
export type Show = (request: PageRequest) => Promise<[title: string, ...parts: string[]]>;

/** Returns a function that adds a page, for operators with these scopes. */
export const adder =
  (app: FastifyInstance, context: ConsoleContext) => (path: string, scopes: readonly Scope[], show: Show) =>
    app.get<{ Querystring: Texts }>(path, async (request, reply) => {
      const page = requestOf(request, scopes, context);
      const [title, ...parts] = await show(page);
      const ended = Object.values(context.operations).find(({ id }) => id === request.query['done']);
      if (ended) parts.unshift(doneHtml(ended.summary, await latestChange(page, ended)));
      return sendPage(reply, title, ...parts);
    });

/** The page after a form shows what the form has saved. */
const LATEST_MS = 60_000;

async function latestChange({ db, operator }: PageRequest, { action }: Pick<Operation, 'action'>) {
  if (action === undefined || !mayUse(operator, 'audit:read')) return undefined;
  const since = new Date(Date.now() - LATEST_MS);
  const [latest] = await readAuditLog(db, { actor: operator.name, action, since, limit: 1 });
  return latest;
}

function doneHtml(summary: string, change?: AuditEntry) {
  const saved = (change ? differencesOf(change) : []).map(({ name, was, is, isNew }) => {
    return { setting: wordsOf(name), ...(!isNew && { before: was }), saved: is };
  });
  return html`<p role="status">Done: ${summary}</p>
    !${saved.length > 0 ? table(`Saved: ${change!.subject}`, saved, (row) => row) : ''}`;
}
