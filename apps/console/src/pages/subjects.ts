import { nameSubjects, type AuditEntry, type NamedSubject } from '@floodgate/audit';
import { maskPassCodes } from '@floodgate/contract';
import { HOUSE_PARTNER_ID } from '@floodgate/database';
import type { PageRequest } from '../add-page.ts';
import { link, type Shown } from '../view/html.ts';
import type { Words } from '../words/index.ts';

/** The names of things and persons, by their kind and id: "ticket:7". */
export type Names = ReadonlyMap<string, NamedSubject>;

/** Fields of changes with the id of something that has a name. */
export const SUBJECT_FIELDS: Readonly<Record<string, string>> = {
  eventId: 'event',
  event: 'event',
  ticketId: 'ticket',
  partnerId: 'partner',
  grantedTo: 'partner',
};

/** The page of a thing, by its kind. */
const PAGES: Readonly<Record<string, (id: string, named: NamedSubject) => string>> = {
  event: (id) => `/events/${id}`,
  ticket: (id, { eventId }) => `/events/${eventId}/tickets/${id}`,
  partner: (id) => `/partners/${id}`,
  webhook: (id) => `/webhooks/${id}`,
  job: (id) => `/jobs/${id}`,
  gate: (_id, { eventId }) => `/events/${eventId}/door`,
  device: (_id, { eventId }) => `/events/${eventId}/door`,
  key: (_id, { partnerId }) => `/partners/${partnerId}`,
  operator: () => '/access',
  access: () => '/access',
  registration: (_id, { name }) => `/people/${encodeURIComponent(name)}`,
};

/** Resolves to the names of things, all at once. */
export async function namesOf({ db }: Pick<PageRequest, 'db'>, subjects: readonly string[]): Promise<Names> {
  const found = await nameSubjects(db, subjects);
  return new Map(found.map((one) => [one.subject, one]));
}

/**
 * Resolves to the names in entries of the audit log. Pass references have no code for those who may not see
 * attendees.
 */
export async function namesIn(page: PageRequest, entries: readonly AuditEntry[]): Promise<Names> {
  const names = await namesOf(page, entries.flatMap(subjectsIn));
  if (page.may('attendees:read')) return names;
  return new Map([...names].map(([key, one]) => [key, { ...one, name: maskPassCodes(one.name) }]));
}

function subjectsIn({ actor, subject, eventId, before, after }: AuditEntry): string[] {
  const inStates = [before, after].flatMap((state) =>
    Object.entries(SUBJECT_FIELDS).flatMap(([field, kind]) => {
      const id = state?.[field];
      return typeof id === 'number' ? [`${kind}:${id}`] : [];
    }),
  );
  return [subject, actor, ...(eventId === null ? [] : [`event:${eventId}`]), ...inStates];
}

/** Returns who changed something: a person, a token, a device, or a partner with a link. */
export function actorHtml(actor: string, names: Names, words: Words): Shown {
  if (actor.startsWith('token:')) return words.audit.token(actor.slice('token:'.length));
  if (actor.startsWith('device:')) return words.audit.device(actor.slice('device:'.length));
  return actor.startsWith('partner:') ? subjectHtml(actor, names, words) : actor;
}

/** Returns the name of a thing with a link. A thing that is gone has its kind and its id. */
export function subjectHtml(subject: string, names: Names, words: Words): Shown {
  const [kind = '', id = ''] = subject.split(/:(.*)/s);
  const named = names.get(subject);
  const { kinds } = words.audit;
  const kindText = Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds] : kind;
  if (!named) return `${kindText} ${id}`;
  const page = PAGES[kind]?.(id, named);
  return page === undefined ? named.name : link(page, nameOf(kind, named, words));
}

function nameOf(kind: string, { name, subject }: NamedSubject, { audit, partnerPages }: Words) {
  const jobs: Partial<Record<string, string>> = audit.jobs;
  if (kind === 'job') return jobs[name] ?? name;
  return subject === `partner:${HOUSE_PARTNER_ID}` ? partnerPages.house : name;
}

/** Returns the name of a role. */
export const roleText = (role: string, { access }: Words) =>
  Object.hasOwn(access.roles, role) ? access.roles[role as keyof typeof access.roles] : role;
