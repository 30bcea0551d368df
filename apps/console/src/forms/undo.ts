import { differencesOf, type AuditEntry } from '@floodgate/audit';
import type { Operation } from '@floodgate/operators';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { mayOpen, type Operations } from '../operations.ts';
import { spokenName, type Texts } from '../view/html.ts';
import type { Words } from '../words/index.ts';
import { WAS } from './sent.ts';

/** The field that names the subject of a change in the audit log, by the kind of the subject. */
const FIELD_OF_KIND: Partial<Record<string, string>> = {
  event: 'eventId',
  ticket: 'ticketId',
  partner: 'partnerId',
  webhook: 'webhookId',
  gate: 'gateId',
  job: 'jobId',
};

/** The way to take a change back: an operation and its fields. */
export interface Undo {
  operation: Operation;
  fields: Texts;
  /** The part that stays although the change is taken back. */
  note?: string;
}

/** A change that was made, with the fields that name its subject. */
interface Made {
  ids: Texts;
  change: AuditEntry;
}

type UndoOf = (made: Made) => [id: keyof Operations, fields: Texts] | undefined;

/** Returns what undoes an operation by another one on the same thing. */
const by =
  (id: keyof Operations, field: string): UndoOf =>
  ({ ids }) => {
    const value = ids[field];
    return value ? [id, { [field]: value }] : undefined;
  };

/** Returns what undoes a grant by its opposite. */
const byGrant =
  (id: keyof Operations, state: 'before' | 'after'): UndoOf =>
  ({ ids, change }) => {
    const partner = change[state]?.['grantedTo'];
    return typeof partner === 'number'
      ? [id, { ...only(ids, 'eventId'), partnerId: String(partner) }]
      : undefined;
  };

const only = (ids: Texts, field: string): Texts => ({ [field]: ids[field] ?? '' });

/** Returns what sets a setting of a partner as it was. */
const bySetting =
  (id: keyof Operations, setting: string): UndoOf =>
  ({ ids, change }) => [id, { ...only(ids, 'partnerId'), [setting]: textOf(change.before?.[setting]) }];

interface StoredAllocation {
  partnerId: number;
  reserved: number;
  cap: number | null;
  releasesAt: string | null;
}

/** Returns what gives a partner the seats that it had. */
const byAllocation: UndoOf = ({ ids, change }) => {
  const [was, is] = [change.before, change.after].map(
    (state) => state?.['allocation'] as StoredAllocation | null,
  );
  const partnerId = (was ?? is)?.partnerId;
  if (partnerId === undefined) return undefined;
  const { reserved, cap, releasesAt } = was ?? { reserved: 0, cap: null, releasesAt: null };
  const fields = { partnerId: String(partnerId), reserved: String(reserved), cap: textOf(cap) };
  return ['ticketAllocate', { ...only(ids, 'ticketId'), ...fields, releasesAt: textOf(releasesAt) }];
};

/** The audit log has no addresses, so only that there was none is known. */
const byContact: UndoOf = ({ ids, change }) =>
  change.before?.['contact'] === 'none'
    ? ['partnerContact', { ...only(ids, 'partnerId'), contactEmail: 'none' }]
    : undefined;

/** The way to undo an operation that changes no settings, by the name of the operation. */
const UNDOS: { [Id in keyof Operations]?: UndoOf } = {
  eventArchive: by('eventRestore', 'eventId'),
  eventRestore: by('eventArchive', 'eventId'),
  eventGrant: byGrant('eventRevoke', 'after'),
  eventRevoke: byGrant('eventGrant', 'before'),
  ticketStopAll: by('ticketResumeAll', 'eventId'),
  ticketResumeAll: by('ticketStopAll', 'eventId'),
  ticketAllocate: byAllocation,
  mailEnable: by('mailDisable', 'eventId'),
  mailPause: by('mailResume', 'eventId'),
  mailResume: by('mailPause', 'eventId'),
  webhookPause: by('webhookResume', 'webhookId'),
  webhookResume: by('webhookPause', 'webhookId'),
  jobPause: by('jobResume', 'jobId'),
  jobResume: by('jobPause', 'jobId'),
  partnerContact: byContact,
  partnerLimit: bySetting('partnerLimit', 'requestsPerSecond'),
  partnerWeigh: bySetting('partnerWeigh', 'weight'),
  partnerDisable: bySetting('partnerDisable', 'disabled'),
};

/** Notes of a change of settings that are no settings. They cannot be undone, and the settings can. */
const NOTED = new Set(['endedHolds']);

/** Returns the text that stands for a stored value. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the fields that set what a change of settings changed as it was. Undefined: not all of them are known. */
function settingsBefore({ properties }: Operation['input'], change: AuditEntry): Texts | undefined {
  const settings = differencesOf(change).filter(({ name }) => !NOTED.has(name));
  const known = settings.filter(({ name, isNew }) => !isNew && Object.hasOwn(properties, name));
  if (known.length === 0 || known.length < settings.length) return undefined;
  const texts = known.flatMap(({ name, was, is }) => {
    const text = [name, textOf(was)];
    // An empty text counts only where there was another one.
    return was === '' ? [text, [WAS + name, textOf(is)]] : [text];
  });
  return Object.fromEntries(texts) as Texts;
}

/** Resolves to the fields that name the subject of a change, and its event. */
async function idsOf({ params, read, operations }: PageRequest, { subject }: AuditEntry): Promise<Texts> {
  const [kind = '', id = ''] = subject.split(':');
  const field = FIELD_OF_KIND[kind];
  const named: Texts = { ...params, ...(field && { [field]: id }) };
  if (named['eventId'] || kind !== 'ticket') return named;
  const ticket = await read(operations.ticketShow, { ticketId: id });
  return { ...named, eventId: String(ticket?.eventId ?? '') };
}

/** Resolves to what takes a change back, if the operator may do that. Undefined: nothing does. */
export async function undoOf(
  page: PageRequest,
  operation: Operation,
  change: AuditEntry,
): Promise<Undo | undefined> {
  const ids = await idsOf(page, change);
  const undo = undoBy(page.operations, operation, { ids, change });
  if (!undo || !mayOpen(page.operator, undo.operation, page.may)) return undefined;
  const { forms } = page.words;
  if ('price' in undo.fields) return { ...undo, note: forms.undoPrice };
  return change.after?.['endedHolds'] === undefined ? undo : { ...undo, note: forms.undoHolds };
}

function undoBy(operations: Operations, operation: Operation, made: Made): Undo | undefined {
  const [id, fields] = UNDOS[operation.id as keyof Operations]?.(made) ?? [];
  if (id && fields) return { operation: operations[id], fields };
  if (operation.method !== 'PATCH') return undefined;
  const settings = settingsBefore(operation.input, made.change);
  const inPath = Array.from(operation.path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  if (!settings || inPath.some((name) => !made.ids[name])) return undefined;
  return {
    operation,
    fields: { ...Object.fromEntries(inPath.map((name) => [name, made.ids[name]!])), ...settings },
  };
}

/** Returns a button that takes a change back, and then shows a page. `of`: the change, if there are several. */
export const undoHtml = ({ operation, fields, note }: Undo, back: string, words: Words, of?: string) =>
  html`<form class="inline" method="post" action="/do/${operation.id}">
    !${Object.entries({ ...fields, back }).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <button !${spokenName(words.forms.undo, of)}>${words.forms.undo}</button>
    !${note ? html`<span class="soft">${note}</span>` : ''}
  </form>`;
