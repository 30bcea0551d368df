import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { actions, chip, Html, link, NOTHING } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Words } from '../words/index.ts';

type Remedy = keyof Words['health']['remedies'];

/** Remedies by SQLSTATE, or by its class. */
const REMEDIES: Record<string, Remedy> = {
  '42501': 'privilege',
  '42P01': 'missing',
  '42703': 'missing',
  '42883': 'missing',
  '57014': 'timeout',
  '55P03': 'timeout',
  '40': 'timeout',
  '53': 'space',
};

const remedyOf = (reason: string): Remedy => REMEDIES[reason] ?? REMEDIES[reason.slice(0, 2)] ?? 'other';

/** Returns the batches that could not be finalized, each with its remedy and a way to try again. */
export async function failedBatchesHtml(request: PageRequest) {
  const { words, format, read, action, operations } = request;
  const { health } = words;
  const found = await read(operations.batchFailed, {});
  if (!found) return '';
  const names = await eventNames(request, found.failed.length > 0);
  const all = action(operations.batchRedrive, {}, health.redriveAll);
  const about =
    found.failed.length > 0
      ? html`<p class="sub">
            ${health.failedBatchesAbout}
            <a href="/help/operate/runbook#batches-that-failed">${words.shell.runbook}</a>
          </p>
          !${actions(found.failed.length > 1 ? all : NOTHING)}`
      : '';
  return html`<h2>${health.failedBatches}</h2>
    !${about}
    !${listing({
      caption: health.failedBatches,
      things: found.failed,
      empty: health.noFailedBatches,
      format,
      columns: [
        { head: health.failedAt, cell: ({ failedAt }) => format.exactTime(failedAt) },
        { head: health.registrations, cell: ({ registrations }) => registrations },
        { head: health.events, cell: ({ eventIds }) => linksOf(eventIds, names, words) },
        {
          head: health.reason,
          cell: ({ reason }) => reason && new Html(html`<span class="reason">${reason}</span>`),
        },
        { head: health.remedy, cell: ({ reason }) => health.remedies[remedyOf(reason ?? '')] },
        {
          head: '',
          cell: ({ batchId }) => action(operations.batchRedrive, { batchIds: batchId }, health.redrive),
        },
      ],
    })}`;
}

/** Returns the readers of the journal that fail: e-mails of events, and webhooks. */
export async function failingHtml(request: PageRequest) {
  const { words, format, read, operations } = request;
  const { health } = words;
  const consumers = await read(operations.consumerFailing, {});
  if (!consumers) return '';
  const names = await eventNames(request, consumers.length > 0);
  return listing({
    caption: health.failing,
    isTitled: true,
    things: consumers,
    empty: health.noFailing,
    format,
    columns: [
      {
        head: health.kind,
        cell: ({ kind, id, eventId }) =>
          kind === 'webhook'
            ? link(`/webhooks/${id}`, health.kinds['webhook']!)
            : link(`/events/${eventId}/messages`, health.kinds[kind] ?? kind),
      },
      { head: health.event, cell: ({ eventId }) => linksOf([eventId], names, words) },
      { head: health.attempts, cell: ({ failures }) => failures },
      { head: health.failingSince, cell: ({ failingSince }) => failingSince && format.ago(failingSince) },
      {
        head: health.state,
        cell: ({ state }) => {
          if (state === 'disabled') return chip('bad', health.disabled);
          return state === 'paused' ? chip('quiet', health.paused) : chip('warn', health.retried);
        },
      },
    ],
  });
}

async function eventNames({ read, operations }: PageRequest, isNeeded: boolean) {
  if (!isNeeded) return new Map<number, string>();
  const lists = await Promise.all([
    read(operations.eventList, {}),
    read(operations.eventList, { archived: true }),
  ]);
  return new Map(lists.flatMap((events) => events ?? []).map(({ id, name }) => [id, name]));
}

const linksOf = (eventIds: readonly number[], names: ReadonlyMap<number, string>, { health }: Words) =>
  new Html(eventIds.map((id) => link(`/events/${id}`, names.get(id) ?? health.ofEvent(id)).text).join(', '));
