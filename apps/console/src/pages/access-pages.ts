import { ROLE_NAMES, type Scope } from '@floodgate/operators';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type PageRequest, type Show } from '../add-page.ts';
import type { ConsoleContext, Operations } from '../operations.ts';
import {
  actions,
  card,
  chip,
  Html,
  link,
  NOTHING,
  rows,
  shownHtml,
  together,
  type Shown,
} from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Words } from '../words/index.ts';
import { namesOf, roleText } from './subjects.ts';

/** Adds the page of who has access. */
export function addAccessPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context, false)('/access', ['access:read'], showAccess);
}

type Operator = Awaited<ReturnType<Operations['operatorList']>>[number];
type Access = Awaited<ReturnType<Operations['accessList']>>[number];

/** The names of events by their ids. */
export type EventNames = ReadonlyMap<number, string>;

const showAccess: Show = async (page) => {
  const { words, operations, read, action } = page;
  const { access: texts } = words;
  const [people = [], open = []] = await Promise.all([
    read(operations.operatorList, {}),
    read(operations.accessList, {}),
  ]);
  const ids = [
    ...people.flatMap(({ eventRoles }) => eventRoles.map(({ eventId }) => eventId)),
    ...open.flatMap(({ eventIds }) => eventIds ?? []),
  ];
  const events = await namesOfEvents(page, ids);
  const [sessions, tokens] = [
    open.filter(({ kind }) => kind === 'session'),
    open.filter(({ kind }) => kind !== 'session'),
  ];
  const meanings = ROLE_NAMES.map(
    (role) => new Html(html`<strong>${texts.roles[role]}</strong> ${texts.rolesMean[role]}`),
  );
  return {
    title: texts.title,
    about: texts.about,
    actions: [
      action(operations.operatorCreate, {}, texts.do.add, { kind: 'primary' }),
      action(operations.tokenCreate, {}, texts.addToken),
    ],
    parts: [
      card(texts.operators, operatorsHtml(page, people, events)),
      card(texts.meaning, rows(...meanings)),
      card(
        texts.sessions,
        html`<p class="hint">${texts.sessionsAbout}</p>
          !${sessionsHtml(page, sessions)}`,
      ),
      card(
        texts.tokens,
        html`<p class="hint">${texts.tokensAbout}</p>
          !${tokensHtml(page, tokens, events)} !${actions(action(operations.tokenCreate, {}, texts.addToken))}`,
      ),
    ],
  };
};

/** Resolves to the names of events. */
export async function namesOfEvents(
  page: Pick<PageRequest, 'db'>,
  ids: readonly number[],
): Promise<EventNames> {
  const names = await namesOf(
    page,
    ids.map((id) => `event:${id}`),
  );
  return new Map(
    [...names.values()].flatMap(({ eventId, name }) => (eventId === null ? [] : [[eventId, name]])),
  );
}

/** Returns an event as a link with its name. */
export const eventLink = (eventId: number, events: EventNames) =>
  link(`/events/${eventId}`, events.get(eventId) ?? eventId);

function operatorsHtml(
  { words, format, operations, action }: PageRequest,
  people: readonly Operator[],
  events: EventNames,
) {
  const { access: texts } = words;
  const roleOf = ({ name, eventRoles }: Operator): Shown =>
    eventRoles.length === 0
      ? null
      : new Html(
          rows(
            ...eventRoles.map(({ eventId, role }) =>
              together(
                new Html(html`${texts.roleOf(roleText(role, words))} !${eventLink(eventId, events).text}`),
                action(operations.operatorRevoke, { name, eventId }, texts.take),
              ),
            ),
          ),
        );
  return listing({
    caption: texts.operators,
    things: people,
    empty: '',
    format,
    columns: [
      { head: texts.name, cell: ({ name }) => new Html(html`<strong>${name}</strong>`) },
      { head: texts.role, cell: ({ role }) => (role === null ? texts.noRole : roleText(role, words)) },
      { head: texts.ofEvents, cell: roleOf },
      { head: texts.email, cell: ({ email }) => email },
      {
        head: texts.state,
        cell: ({ disabledAt }) => (disabledAt ? chip('bad', texts.disabled) : chip('ok', texts.enabled)),
      },
      { head: texts.since, cell: ({ createdAt }) => new Html(html`${format.day(createdAt)}`) },
      {
        head: '',
        cell: ({ name }) =>
          together(
            action(operations.operatorUpdate, { name }, texts.do.change, { of: name }),
            action(operations.operatorGrant, { name }, texts.do.give, { of: name }),
            action(operations.operatorResetPassword, { name }, texts.do.password, { of: name }),
            action(operations.operatorSignOut, { name }, texts.do.signOut, { of: name }),
          ),
      },
    ],
  });
}

function sessionsHtml(
  { words, format, operations, operator, action }: PageRequest,
  sessions: readonly Access[],
) {
  const { access: texts } = words;
  const mark = (id: string) => (id === operator.accessId ? chip('info', texts.thisOne) : NOTHING);
  return listing({
    caption: texts.sessions,
    things: sessions,
    empty: texts.noSessions,
    format,
    columns: [
      {
        head: texts.name,
        cell: ({ id, name }) => together(new Html(html`<strong>${name}</strong>`), mark(id)),
      },
      { head: texts.from, cell: ({ createdAt }) => format.ago(createdAt) },
      { head: texts.until, cell: ({ expiresAt }) => format.time(expiresAt) },
      {
        head: '',
        cell: ({ id, name }) => action(operations.accessRevoke, { accessId: id }, texts.end, { of: name }),
      },
    ],
  });
}

function tokensHtml(
  { words, format, operations, action }: PageRequest,
  tokens: readonly Access[],
  events: EventNames,
) {
  const { access: texts } = words;
  const forEvents = ({ eventIds }: Access) =>
    eventIds === null
      ? texts.allEvents
      : new Html(eventIds.map((id) => shownHtml(eventLink(id, events))).join(', '));
  return listing({
    caption: texts.tokens,
    things: tokens,
    empty: texts.noTokens,
    format,
    columns: [
      { head: texts.name, cell: ({ name }) => new Html(html`<strong>${name}</strong>`) },
      { head: texts.may, cell: ({ scopes }) => scopesText(scopes ?? [], words) },
      { head: texts.forEvents, cell: forEvents },
      { head: texts.from, cell: ({ createdAt }) => format.ago(createdAt) },
      { head: texts.until, cell: ({ expiresAt }) => format.time(expiresAt) },
      {
        head: '',
        cell: ({ id, name }) =>
          action(operations.accessRevoke, { accessId: id }, texts.revoke, { kind: 'danger', of: name }),
      },
    ],
  });
}

/** Returns in words what a token may do. */
function scopesText(scopes: readonly Scope[], { access: texts }: Words) {
  const areasWith = (right: string) =>
    scopes.flatMap((scope) => {
      const [area, of] = scope.split(':') as [keyof typeof texts.areas, string];
      return of === right ? [texts.areas[area] ?? area] : [];
    });
  const [reads, changes] = [areasWith('read'), areasWith('write')];
  return [
    reads.length > 0 && texts.reads(reads.join(', ')),
    changes.length > 0 && texts.changes(changes.join(', ')),
  ]
    .filter(Boolean)
    .join('; ');
}
