import { MOST_COUNTED, type MailBacklog } from '@floodgate/mail/console';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type PageRequest, type Show } from '../add-page.ts';
import type { ConsoleContext, Operations } from '../operations.ts';
import { card, chip, grid, Html, link, NOTHING, rows, type Tone } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { awayHtml } from '../view/page.ts';
import type { Words } from '../words/index.ts';
import { namesOf, subjectHtml } from './subjects.ts';
import { webhookListing } from './webhook-pages.ts';

/** Suppressed addresses on the page. */
const MOST_SUPPRESSIONS = 200;

/** Adds the page of what is sent to attendees and partners. */
export function addDeliveryPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/deliveries', ['mail:read'], showDeliveries);
}

const showDeliveries: Show = async (page) => {
  const { words, operations, read, action } = page;
  const { deliveries: texts } = words;
  const [mails, backlog, failing, suppressions] = await Promise.all([
    read(operations.mailBacklog, {}),
    read(operations.backlogShow, {}),
    read(operations.webhookListAll, { failing: true }),
    read(operations.suppressionList, {}),
  ]);
  return {
    title: texts.title,
    about: texts.about,
    actions: [action(operations.mailTest, {}, texts.testMail)],
    parts: [
      awayHtml([...new Set([...(mails?.away ?? []), ...(failing?.away ?? [])])], words),
      backlog ? progressHtml(page, backlog.deliveries) : '',
      mails ? card(texts.mails.title, await mailsHtml(page, mails.events)) : '',
      failing ? card(texts.failing.title, await failingHtml(page, failing.webhooks)) : '',
      suppressions ? card(texts.suppressions.title, await suppressionsHtml(page, suppressions)) : '',
    ],
  };
};

type Lags = Awaited<ReturnType<Operations['backlogShow']>>['deliveries'];

/** Returns what is sent, and what waits or fails, in sentences. */
function progressHtml({ words, format }: PageRequest, { mail, webhook }: Lags) {
  const { progress: texts } = words.deliveries;
  const cardOf = (name: string, lag: Lags['mail']) => {
    if (!lag) return '';
    const { behind, consumers, oldestMs, oldestRetryMs, failing, disabled } = lag;
    const count = (value: number) => format.number(value);
    const troubles = [
      behind > 0 && texts.behind(count(behind), count(consumers)),
      oldestMs !== null && texts.oldest(format.duration(oldestMs)),
      oldestRetryMs !== null && texts.retry(format.duration(oldestRetryMs)),
      failing > 0 && texts.failing(count(failing)),
      disabled > 0 && texts.disabled(count(disabled)),
    ].filter((text) => text !== false);
    return card(name, rows(...(troubles.length > 0 ? troubles : [texts.fine])), 6);
  };
  const cards = [cardOf(texts.mail, mail), cardOf(texts.webhook, webhook)].filter(Boolean);
  return html`<h2>${texts.title}</h2>
    !${cards.length > 0 ? grid(...cards) : html`<p class="none">${texts.none}</p>`}`;
}

const TONES: Record<MailBacklog['state'], Tone> = { active: 'ok', paused: 'warn', disabled: 'bad' };

async function mailsHtml(page: PageRequest, events: readonly MailBacklog[]) {
  const { words, format } = page;
  const { mails: texts } = words.deliveries;
  const names = await eventNames(
    page,
    events.map(({ eventId }) => eventId),
  );
  const counted = (count: number) =>
    count > MOST_COUNTED ? new Html(html`${texts.moreThan(format.number(MOST_COUNTED))}`) : count;
  const trouble = ({ undeliverable, suppressed, retried, waiting }: MailBacklog) =>
    undeliverable + suppressed + retried + waiting;
  return listing({
    caption: texts.title,
    // Those with a problem first.
    things: events.toSorted((one, other) => trouble(other) - trouble(one) || other.eventId - one.eventId),
    empty: texts.none,
    format,
    columns: [
      { head: texts.event, cell: ({ eventId }) => subjectHtml(`event:${eventId}`, names, words) },
      { head: texts.state, cell: ({ state }) => chip(TONES[state], texts.states[state]) },
      { head: texts.waiting, cell: ({ waiting }) => counted(waiting) },
      { head: texts.retried, cell: ({ retried }) => counted(retried) },
      { head: texts.undeliverable, cell: ({ undeliverable }) => counted(undeliverable) },
      { head: texts.suppressed, cell: ({ suppressed }) => counted(suppressed) },
      {
        head: '',
        cell: (one) =>
          one.undeliverable + one.suppressed + one.retried > 0
            ? link(`/events/${one.eventId}/messages`, texts.who)
            : NOTHING,
      },
    ],
  });
}

const eventNames = (page: PageRequest, ids: readonly number[]) =>
  namesOf(
    page,
    ids.map((id) => `event:${id}`),
  );

type Webhooks = Awaited<ReturnType<Operations['webhookListAll']>>['webhooks'];

async function failingHtml(page: PageRequest, webhooks: Webhooks) {
  const { failing: texts } = page.words.deliveries;
  const named = await namesOf(
    page,
    webhooks.map(({ partnerId }) => `partner:${partnerId}`),
  );
  const partners = new Map(
    [...named.values()].flatMap(({ partnerId, name }) => (partnerId === null ? [] : [[partnerId, name]])),
  );
  return webhookListing(page, webhooks, {
    caption: texts.title,
    empty: texts.none,
    partners,
    withPartner: true,
  });
}

type Suppression = Awaited<ReturnType<Operations['suppressionList']>>[number];

async function suppressionsHtml(page: PageRequest, all: readonly Suppression[]) {
  const { words, format, operations, action } = page;
  const { suppressions: texts } = words.deliveries;
  const shown = all.slice(0, MOST_SUPPRESSIONS);
  const names = await eventNames(
    page,
    shown.map(({ eventId }) => eventId),
  );
  const table = listing({
    caption: texts.title,
    things: shown,
    empty: texts.none,
    format,
    columns: [
      { head: texts.reason, cell: ({ reason }) => reasonText(reason, words) },
      { head: texts.event, cell: ({ eventId }) => subjectHtml(`event:${eventId}`, names, words) },
      { head: texts.since, cell: ({ at }) => format.time(at) },
      { head: texts.digest, cell: ({ digest }) => new Html(html`<code>${digest.slice(0, 12)}…</code>`) },
      { head: '', cell: ({ digest }) => action(operations.mailUnsuppress, { address: digest }, texts.lift) },
    ],
  });
  const most =
    all.length > MOST_SUPPRESSIONS ? html`<p class="hint">${texts.most(String(MOST_SUPPRESSIONS))}</p>` : '';
  return html`<p class="hint">${texts.about}</p>
    !${table} !${most}`;
}

/** Returns why a server refused an address, in words. */
function reasonText(reason: string, { deliveries }: Words) {
  const { other, ...known } = deliveries.reasons;
  const [, basic = reason, enhanced = ''] = /^(\d{3})(?: (\d\.\d+\.\d+))?/.exec(reason) ?? [];
  const wide = enhanced.split('.').slice(0, 2).join('.');
  const found = [enhanced, wide, basic].find((code) => Object.hasOwn(known, code));
  return found === undefined ? other(reason) : known[found as keyof typeof known];
}
