import { lostOf, mayUse, type Processes, type RunningProcess } from '@floodgate/operators';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type PageRequest } from '../add-page.ts';
import { kindsOf } from '../installation/figures.ts';
import { findingsFor, noticesOf } from '../installation/notices.ts';
import type { InstallationState } from '../installation/watch-installation.ts';
import type { ConsoleContext } from '../operations.ts';
import { card, chip, rows } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { noticesHtml, type Page } from '../view/page.ts';
import { failedBatchesHtml, failingHtml } from './health-failures.ts';

/** Adds the page about what runs, what waits, and what has failed. */
export function addHealthPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/health', ['queue:read'], (request) => showHealth(request, context));
}

async function showHealth(request: PageRequest, { installation }: ConsoleContext): Promise<Page> {
  const { words } = request;
  const state = installation.state();
  const maySeeAll = mayUse(request.operator, 'queue:read');
  return {
    title: words.health.title,
    about: words.health.about,
    help: 'operate/health',
    parts: [
      summaryHtml(request, state),
      ...(maySeeAll ? [processesHtml(request, state.processes), backlogHtml(request, state)] : []),
      await failedBatchesHtml(request),
      await failingHtml(request),
    ],
  };
}

/** Returns the whole in a sentence, and what needs attention. */
function summaryHtml({ words, operator, viewer }: PageRequest, { findings, processes }: InstallationState) {
  const { health } = words;
  if (!processes && findings.length === 0) return card('', html`<p>${health.unknown}</p>`);
  const notices = noticesOf(findingsFor(operator, findings), viewer);
  const [tone, state, sentence] =
    notices.length === 0
      ? (['ok', health.stateFine, health.fine] as const)
      : (['bad', health.stateAttention, health.attention(notices.length)] as const);
  return card(
    '',
    html`<p class="whole">!${chip(tone, state).text} <strong>${sentence}</strong></p>
      !${notices.length > 0 ? noticesHtml(notices, words) : ''}`,
  );
}

function processesHtml({ words, format }: PageRequest, processes: Processes = { running: [], late: [] }) {
  const { health } = words;
  const lost = new Set(lostOf(processes).map(({ id }) => id));
  const shown = [...processes.running, ...processes.late.filter(({ id }) => lost.has(id))];
  return listing({
    caption: health.processes,
    isTitled: true,
    things: shown.toSorted((one, other) => one.service.localeCompare(other.service)),
    empty: health.noProcesses,
    format,
    columns: [
      { head: health.service, cell: ({ service }) => health.services[service] ?? service },
      { head: health.host, cell: ({ host }) => host },
      { head: health.version, cell: ({ version }) => version },
      { head: health.since, cell: ({ startedAt }) => format.ago(startedAt) },
      {
        head: health.state,
        cell: ({ id, silentMs }) =>
          lost.has(id) ? chip('bad', health.silent(format.duration(silentMs))) : chip('ok', health.reports),
      },
      {
        head: health.doing,
        cell: (process) => (lost.has(process.id) ? null : doingOf(process, words.health, format)),
      },
    ],
  });
}

function doingOf(
  { facts }: RunningProcess,
  health: PageRequest['words']['health'],
  format: PageRequest['format'],
) {
  const parts = [
    facts.waiting !== undefined && health.waitingCalls(facts.waiting, format.number(facts.waiting)),
    facts.queue !== undefined && (facts.queue === 'up' ? health.queueUp : health.queueIsDown),
    facts.deliveries &&
      health.sends(format.list(facts.deliveries.map((kind) => health.sentKinds[kind] ?? kind))),
  ];
  return parts.filter(Boolean).join(', ');
}

/** Returns the backlog in words. */
function backlogHtml({ words: { health }, format }: PageRequest, { work }: InstallationState) {
  if (!work) return '';
  const { pendingBatches, pendingChanges, oldestPendingMs } = work;
  const ageOf = (ms: number | null) => format.duration(ms ?? 0);
  const sentences = [
    pendingBatches > 0
      ? health.pending(pendingBatches, format.number(pendingBatches), ageOf(oldestPendingMs))
      : health.nothingPending,
    pendingChanges > 0 && health.changesPending(pendingChanges, format.number(pendingChanges)),
    ...Object.entries(kindsOf(work)).map(([kind, { behind, consumers, oldestMs, oldestRetryMs }]) => {
      const name = health.kinds[kind] ?? kind;
      if (behind === 0) return health.nothingBehind(name);
      return [
        health.behind(name, format.number(behind), format.number(consumers)),
        oldestMs !== null && health.oldest(ageOf(oldestMs)),
        oldestRetryMs !== null && health.oldestRetry(ageOf(oldestRetryMs)),
      ]
        .filter(Boolean)
        .join(' ');
    }),
  ];
  return card(health.backlog, rows(...sentences.filter((sentence) => sentence !== false)));
}
