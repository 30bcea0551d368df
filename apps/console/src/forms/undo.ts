import { differencesOf, type AuditEntry } from '@floodgate/audit';
import type { Operation } from '@floodgate/operators';
import { html } from 'ghtml';
import type { Operations } from '../operations.ts';
import type { Texts } from '../view/html.ts';
import type { Words } from '../words/index.ts';

/** The field that names the subject of a change in the audit log, by the kind of the subject. */
const FIELD_OF_KIND: Partial<Record<string, string>> = {
  event: 'eventId',
  ticket: 'ticketId',
  partner: 'partnerId',
  webhook: 'webhookId',
};

/** Operations that take each other back, if both name the same thing. */
const OPPOSITES: { [Id in keyof Operations]?: keyof Operations } = {
  eventArchive: 'eventRestore',
  eventRestore: 'eventArchive',
  ticketStopAll: 'ticketResumeAll',
  ticketResumeAll: 'ticketStopAll',
  mailPause: 'mailResume',
  mailResume: 'mailPause',
  webhookPause: 'webhookResume',
  webhookResume: 'webhookPause',
};

/** What takes a change back: an operation and its fields. */
export interface Undo {
  operation: Operation;
  fields: Texts;
}

/** Returns what takes a change back. Undefined: nothing does. */
export function undoOf(operations: Operations, operation: Operation, change: AuditEntry): Undo | undefined {
  const [kind = '', id = ''] = change.subject.split(':');
  const subjectField = FIELD_OF_KIND[kind];
  if (!subjectField) return undefined;
  const opposite = OPPOSITES[operation.id as keyof Operations];
  if (opposite) return { operation: operations[opposite], fields: { [subjectField]: id } };
  if (operation.method !== 'PATCH') return undefined;
  const settings = differencesOf(change);
  const known = settings.filter(({ name, isNew }) => !isNew && Object.hasOwn(operation.input.properties, name));
  if (known.length === 0 || known.length < settings.length) return undefined;
  const texts = known.map(({ name, was }) => [name, was === null ? 'none' : String(was as string | number)]);
  return { operation, fields: { [subjectField]: id, ...(Object.fromEntries(texts) as Texts) } };
}

/** Returns a button that takes a change back, and then shows a page. */
export const undoHtml = ({ operation, fields }: Undo, back: string, words: Words) =>
  html`<form class="inline" method="post" action="/do/${operation.id}">
    !${Object.entries({ ...fields, back }).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <button>${words.forms.undo}</button>
  </form>`;
