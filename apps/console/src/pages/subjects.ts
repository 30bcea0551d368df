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

/** Fields of changes with the ids of several such things. */
const LIST_FIELDS: Readonly<Record<string, string>> = {
  gates: 'gate',
  tickets: 'ticket',
  stoppedTickets: 'ticket',
};

/** Returns the things that a field of a change names by their ids. */
export function subjectsInField(field: string, value: unknown): string[] {
  const kind = SUBJECT_FIELDS[field] ?? LIST_FIELDS[field];
  const ids: unknown[] = Array.isArray(value) ? value : [value];
  return kind === undefined ? [] : ids.flatMap((id) => (typeof id === 'number' ? [`${kind}:${id}`] : []));
}

/** Returns the names of several things in place of their ids. Undefined: it is no list of ids. */
export function namesInList(
  field: string,
  value: unknown,
  names: Names,
  { words, format }: Pick<PageRequest, 'words' | 'format'>,
) {
  const subjects = subjectsInField(field, value);
  if (!Array.isArray(value) || subjects.length === 0) return undefined;
  return format.list(
    subjects.map((subject) => {
      const named = names.get(subject);
      return named ? nameText(named, words) : unknownText(subject, words);
    }),
  );
}

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
    Object.entries(state ?? {}).flatMap(([field, value]) => subjectsInField(field, value)),
  );
  return [subject, actor, ...(eventId === null ? [] : [`event:${eventId}`]), ...inStates];
}

/** Returns who changed something: a person, a token, a device, or a partner with a link. */
export function actorHtml(actor: string, names: Names, words: Words): Shown {
  if (actor.startsWith('token:')) return words.audit.token(actor.slice('token:'.length));
  if (actor.startsWith('device:')) return words.audit.device(actor.slice('device:'.length));
  return actor.startsWith('partner:') ? subjectHtml(actor, names, words) : actor;
}

function unknownText(subject: string, { audit: { kinds } }: Words) {
  const [kind = '', id = ''] = subject.split(/:(.*)/s);
  return `${Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds] : kind} ${id}`;
}

/** Returns the name of a thing with a link. A thing that is gone has its kind and its id. */
export function subjectHtml(subject: string, names: Names, words: Words): Shown {
  const [kind = '', id = ''] = subject.split(/:(.*)/s);
  const named = names.get(subject);
  if (!named) return unknownText(subject, words);
  const page = PAGES[kind]?.(id, named);
  return page === undefined ? named.name : link(page, nameOf(kind, named, words));
}

/** Returns the name of a thing. Of a registration, the pass reference without its code. */
export function nameText(named: NamedSubject, words: Words) {
  const [kind = ''] = named.subject.split(':', 1);
  return kind === 'registration' ? maskPassCodes(named.name) : nameOf(kind, named, words);
}

function nameOf(kind: string, { name, subject }: NamedSubject, { audit, partnerPages }: Words) {
  const jobs: Partial<Record<string, string>> = audit.jobs;
  if (kind === 'job') return jobs[name] ?? name;
  return subject === `partner:${HOUSE_PARTNER_ID}` ? partnerPages.house : name;
}

/** Returns the name of a role. */
export const roleText = (role: string, { access }: Words) =>
  Object.hasOwn(access.roles, role) ? access.roles[role as keyof typeof access.roles] : role;
