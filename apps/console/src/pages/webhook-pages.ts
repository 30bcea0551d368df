import type { ShownWebhook } from '@floodgate/webhooks/console';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type PageRequest, type Show } from '../add-page.ts';
import type { ConsoleContext, Operations } from '../operations.ts';
import { alertHtml, card, chip, facts, Html, link, NOTHING, type Shown, type Tone } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { valueWords, type Words } from '../words/index.ts';
import { namesOf, subjectHtml } from './subjects.ts';

/** Adds the page of a webhook. */
export function addWebhookPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/webhooks/:webhookId', ['webhooks:read'], showWebhook);
}

type State = keyof Words['webhooks']['states'];

const TONES: Record<State, Tone> = { active: 'ok', failing: 'warn', paused: 'warn', disabled: 'bad' };

const stateOf = ({ state, failures }: Pick<ShownWebhook, 'state' | 'failures'>): State =>
  state === 'active' && failures > 0 ? 'failing' : state;

const stateChip = (webhook: Pick<ShownWebhook, 'state' | 'failures'>, { webhooks }: Words) =>
  chip(TONES[stateOf(webhook)], webhooks.states[stateOf(webhook)]);

/** Returns what the state of a webhook means, and what to do. */
function sentenceOf(
  { state, failures, pausedBy, disabledReason }: ShownWebhook,
  words: Words,
  count: string,
) {
  const { sentences } = words.webhooks;
  if (state === 'paused')
    return pausedBy === 'operator' ? sentences.pausedByOperator : sentences.pausedByPartner;
  if (state === 'disabled') return disabledReason === 'gone' ? sentences.gone : sentences.failedTooLong;
  return failures > 0 ? sentences.failing(count) : sentences.active;
}

interface WebhookListingOptions {
  caption: string;
  empty: string;
  /** The names of partners. */
  partners: ReadonlyMap<number, string>;
  withPartner?: boolean;
}

/** Resolves to a table of webhooks with the names of their events. */
export async function webhookListing(
  page: PageRequest,
  found: readonly ShownWebhook[],
  { caption, empty, partners, withPartner = false }: WebhookListingOptions,
) {
  const { words, format } = page;
  const { webhooks: texts } = words;
  const names = await namesOf(
    page,
    found.map(({ eventId }) => `event:${eventId}`),
  );
  return listing({
    caption,
    things: found,
    empty,
    format,
    columns: [
      { head: texts.receiver, cell: ({ id, url }) => link(`/webhooks/${id}`, hostOf(url)) },
      withPartner && {
        head: texts.partner,
        cell: ({ partnerId }) => link(`/partners/${partnerId}`, partners.get(partnerId) ?? partnerId),
      },
      { head: texts.event, cell: ({ eventId }) => subjectHtml(`event:${eventId}`, names, words) },
      { head: texts.state, cell: (webhook) => stateChip(webhook, words) },
      { head: texts.failures, cell: ({ failures }) => failures },
      {
        head: texts.failingSince,
        cell: ({ dateFailing }) => dateFailing && format.ago(new Date(dateFailing)),
      },
    ],
  });
}

/** Returns the server of a URL. The rest can be a secret. */
const hostOf = (url: string) => URL.parse(url)?.host ?? url;

const showWebhook: Show = async (page) => {
  const { words, format, operations, params, read, action } = page;
  const { webhookId } = params;
  const { webhooks: texts } = words;
  const webhook = (await read(operations.webhookShow, { webhookId }))!;
  const subjects = [`partner:${webhook.partnerId}`, `event:${webhook.eventId}`] as const;
  const names = await namesOf(page, subjects);
  const [partner, event] = subjects.map((subject) => subjectHtml(subject, names, words));
  const { state } = webhook;
  const sentence = sentenceOf(webhook, words, format.number(webhook.failures));
  const attempts = await read(operations.webhookAttempts, { webhookId, limit: 50 });
  return {
    title: texts.titleOf(names.get(subjects[0])?.name ?? texts.partner),
    chips: stateChip(webhook, words),
    about: texts.aboutOf,
    path: [link('/deliveries', words.deliveries.title)],
    actions: [
      state === 'active'
        ? action(operations.webhookPause, { webhookId }, texts.do.pause)
        : action(operations.webhookResume, { webhookId }, texts.do.resume, { kind: 'primary' }),
      action(operations.webhookTest, { webhookId }, texts.do.test),
      action(operations.webhookReplay, { webhookId }, texts.do.replay),
      action(operations.webhookUpdate, { webhookId }, texts.do.change),
      action(operations.webhookRotate, { webhookId }, texts.do.rotate),
      action(operations.webhookDelete, { webhookId }, texts.do.delete, { kind: 'danger' }),
    ],
    parts: [
      stateOf(webhook) === 'active' ? html`<p>${sentence}</p>` : alertHtml(sentence),
      card('', facts([texts.partner, partner], [texts.event, event], ...settingsOf(page, webhook))),
      card(texts.attempts.title, attemptsHtml(page, attempts)),
    ],
  };
};

function settingsOf(
  { words, format }: PageRequest,
  webhook: ShownWebhook & { oldestMs: number | null; notice: unknown },
): (readonly [string, Shown])[] {
  const { webhooks: texts } = words;
  const at = (time: string | null) => (time === null ? null : format.time(new Date(time)));
  const { url, description, types, include, entriesPerMessage, oldestMs, dateNextAttempt, dateFailing } =
    webhook;
  const all: (readonly [string, Shown] | false)[] = [
    [texts.receiver, url],
    [texts.description, description],
    [texts.types, format.list(types.map((type) => valueWords(words, type)))],
    include !== undefined && [
      texts.include,
      format.list(include.map((name) => valueWords(words, name, 'include'))),
    ],
    [texts.perMessage, format.number(entriesPerMessage)],
    [texts.backlog, oldestMs === null ? texts.nothingWaits : format.duration(oldestMs)],
    dateFailing !== null && [texts.failingSince, at(dateFailing)],
    dateNextAttempt !== null && [texts.nextAttempt, at(dateNextAttempt)],
    [texts.created, at(webhook.dateCreated)],
    [texts.publicKey, webhook.publicKey],
    [texts.cursor, webhook.cursor],
  ];
  return all.filter((one) => one !== false);
}

type Attempt = NonNullable<Awaited<ReturnType<Operations['webhookAttempts']>>>[number];

function attemptsHtml({ words, format }: PageRequest, attempts: readonly Attempt[] | undefined) {
  const { attempts: texts } = words.webhooks;
  return listing({
    caption: texts.title,
    things: attempts,
    empty: texts.none,
    format,
    columns: [
      { head: texts.at, cell: ({ dateAttempted }) => format.exactTime(new Date(dateAttempted)) },
      {
        head: texts.outcome,
        cell: ({ outcome }) => chip(outcome === 'delivered' ? 'ok' : 'bad', texts.outcomes[outcome]),
      },
      { head: texts.answer, cell: (attempt) => answerHtml(attempt, texts) },
      { head: texts.entries, cell: ({ entries }) => entries },
      { head: texts.took, cell: ({ milliseconds }) => format.duration(milliseconds) },
      { head: texts.message, cell: ({ messageId }) => new Html(html`<code>${messageId}</code>`) },
    ],
  });
}

function answerHtml({ httpStatus, error }: Attempt, texts: Words['webhooks']['attempts']): Shown {
  if (httpStatus !== null) return texts.status(String(httpStatus));
  if (error === null) return NOTHING;
  return Object.hasOwn(texts.errors, error) ? texts.errors[error as keyof typeof texts.errors] : error;
}
