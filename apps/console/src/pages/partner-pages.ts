import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type PageRequest, type Show } from '../add-page.ts';
import type { ConsoleContext, Operations } from '../operations.ts';
import { Refusal } from '../principals.ts';
import {
  address,
  actions,
  alertHtml,
  card,
  chip,
  facts,
  Html,
  link,
  NOTHING,
  together,
  type Shown,
} from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Words } from '../words/index.ts';
import { changesHtml } from './changes.ts';
import { namesIn } from './subjects.ts';
import { webhookListing } from './webhook-pages.ts';

type Partner = Awaited<ReturnType<Operations['partnerList']>>[number];

const DAY_MS = 86_400_000;
/** Changes on the page of a partner. */
const LATEST = 10;

/** Adds the pages of partners. */
export function addPartnerPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context, false);
  add('/partners', ['partners:read'], showPartners);
  add('/partners/:partnerId', ['partners:read'], showPartner);
}

/** Returns the name of a partner as people know it: that of guests is the house. */
export const partnerName = ({ isHouse, name }: Pick<Partner, 'isHouse' | 'name'>, { partnerPages }: Words) =>
  isHouse ? partnerPages.house : name;

const showPartners: Show = async ({ words, format, operations, read, action }) => {
  const { partnerPages: texts } = words;
  const [partners, refusals = []] = await Promise.all([
    read(operations.partnerList, {}),
    read(operations.partnerRefusals, {}),
  ]);
  const refused = new Map<number, number>();
  for (const { partnerId, refusals: count } of refusals)
    refused.set(partnerId, (refused.get(partnerId) ?? 0) + count);
  return {
    title: texts.title,
    about: texts.about,
    actions: [action(operations.partnerCreate, {}, texts.add, { kind: 'primary' })],
    parts: [
      listing({
        caption: texts.title,
        things: partners,
        empty: texts.empty,
        format,
        columns: [
          { head: texts.partner, cell: (one) => link(`/partners/${one.id}`, partnerName(one, words)) },
          { head: texts.state, cell: (one) => stateChip(one, words) },
          { head: texts.events, cell: (one) => (one.isHouse ? null : one.grantedEvents) },
          { head: texts.keys, cell: (one) => (one.isHouse ? null : one.openKeys) },
          { head: texts.limit, cell: (one) => limitText(one, words, format.number.bind(format)) },
          { head: texts.share, cell: ({ weight }) => weight },
          { head: texts.refusedHead, cell: ({ id }) => refused.get(id) ?? null },
        ],
      }),
    ],
  };
};

function stateChip(
  { isHouse, disabledAt, openKeys, grantedEvents }: Partner,
  { partnerPages: texts }: Words,
) {
  if (isHouse) return chip('info', texts.house);
  if (disabledAt) return chip('bad', texts.disabled);
  if (openKeys === 0) return chip('warn', texts.noKey);
  return grantedEvents === 0 ? chip('warn', texts.noEvent) : chip('ok', texts.enabled);
}

function limitText(
  { isHouse, requestsPerSecond }: Partner,
  { partnerPages: texts }: Words,
  number: (count: number) => string,
) {
  if (isHouse || requestsPerSecond === null) return texts.noLimit;
  return texts.perSecond(number(requestsPerSecond));
}

const showPartner: Show = async (page) => {
  const { words, operations, params, read, action } = page;
  const { partnerPages: texts } = words;
  const partners = await read(operations.partnerList, {});
  const partner = partners?.find(({ id }) => String(id) === params.partnerId);
  if (!partner) throw new Refusal(404, 'No such partner');
  const partnerId = partner.id;
  const isDisabled = partner.disabledAt !== null;
  const change = [
    action(operations.partnerContact, { partnerId }, texts.change.contact),
    action(operations.partnerLimit, { partnerId }, texts.change.limit),
    action(operations.partnerWeigh, { partnerId }, texts.change.share),
    action(
      operations.partnerDisable,
      { partnerId, disabled: !isDisabled },
      isDisabled ? texts.change.enable : texts.change.disable,
      isDisabled ? {} : { kind: 'danger' },
    ),
  ];
  return {
    title: partnerName(partner, words),
    chips: stateChip(partner, words),
    about: partner.isHouse ? texts.houseAbout : null,
    path: [link('/partners', texts.title)],
    actions: partner.isHouse ? [] : change,
    parts: [
      ...problems(partner, texts),
      await refusedHtml(page, partner),
      partner.isHouse ? '' : await eventsHtml(page, partner),
      partner.isHouse ? '' : await keysHtml(page, partner),
      partner.isHouse ? '' : await webhooksHtml(page, partner),
      card('', facts(...settingsOf(page, partner))),
      await latestHtml(page, partner),
    ],
  };
};

/** Returns why a partner cannot sell at all. */
function problems({ isHouse, disabledAt, openKeys, grantedEvents }: Partner, texts: Words['partnerPages']) {
  if (isHouse) return [];
  return [
    alertHtml(disabledAt ? texts.isDisabled : ''),
    alertHtml(openKeys === 0 ? texts.hasNoKey : ''),
    alertHtml(grantedEvents === 0 ? texts.hasNoEvent : ''),
  ];
}

function settingsOf({ words, format }: PageRequest, partner: Partner): (readonly [string, Shown])[] {
  const { partnerPages: texts } = words;
  const added = [texts.added, format.time(partner.createdAt)] as const;
  if (partner.isHouse) return [added];
  return [
    [texts.contact, partner.contactEmail ?? texts.noContact],
    [texts.limit, limitText(partner, words, (count) => format.number(count))],
    [texts.share, texts.weight(format.number(partner.weight))],
    added,
  ];
}

/** Returns why requests of a partner were refused in the last hour, and what to do. */
async function refusedHtml({ words, format, operations, read }: PageRequest, { id: partnerId }: Partner) {
  const { refused } = words.partnerPages;
  const reasons = await read(operations.partnerRefusals, { partnerId });
  const textsOf = (code: string) =>
    Object.hasOwn(words.refusals, code) ? words.refusals[code as keyof Words['refusals']] : undefined;
  const table = listing({
    caption: refused.title,
    things: reasons,
    empty: refused.none,
    format,
    columns: [
      {
        head: refused.why,
        cell: ({ code }) =>
          new Html(
            html`<strong>${textsOf(code)?.why ?? refused.other}</strong>
              <span class="soft">${refused.code(code)}</span>`,
          ),
      },
      { head: refused.count, cell: ({ refusals }) => refusals },
      { head: refused.todo, cell: ({ code }) => textsOf(code)?.todo },
    ],
  });
  return card(
    refused.title,
    html`!${table}
      <p class="hint">${refused.about}</p>`,
  );
}

async function eventsHtml(
  { words, format, operations, read, action }: PageRequest,
  { id: partnerId }: Partner,
) {
  const { sells, ofKeys } = words.partnerPages;
  const events = await read(operations.partnerEvents, { partnerId });
  if (!events) return '';
  const table = listing({
    caption: sells.title,
    things: events,
    empty: sells.none,
    format,
    columns: [
      {
        head: sells.event,
        cell: ({ eventId, event, mode, archivedAt }) =>
          together(
            link(`/events/${eventId}`, event),
            mode === 'test' ? chip('info', words.event.test) : NOTHING,
            archivedAt ? chip('quiet', sells.archived) : NOTHING,
          ),
      },
      { head: sells.starts, cell: ({ startsAt }) => format.time(startsAt) },
      {
        head: sells.key,
        cell: ({ openKeys, mode }) =>
          openKeys > 0
            ? openKeys
            : together(
                chip('warn', sells.noKey(ofKeys[mode])),
                action(operations.keyIssue, { partnerId, mode }, ofKeys.issue, { of: ofKeys[mode] }),
              ),
      },
      {
        head: '',
        cell: ({ eventId, event }) =>
          action(operations.eventRevoke, { eventId, partnerId }, sells.close, { kind: 'danger', of: event }),
      },
    ],
  });
  return card(sells.title, table + actions(action(operations.eventGrant, { partnerId }, sells.open)));
}

async function keysHtml(
  { words, format, operations, read, action }: PageRequest,
  { id: partnerId }: Partner,
) {
  const { ofKeys: texts } = words.partnerPages;
  const tones = { open: 'ok', revoked: 'quiet', expired: 'quiet' } as const;
  const keys = await read(operations.keyList, { partnerId });
  const table = listing({
    caption: texts.title,
    things: keys?.toReversed(),
    empty: texts.none,
    format,
    columns: [
      {
        head: texts.key,
        cell: ({ keyId, mode }) => (mode === 'test' ? `fg_test_${keyId}_…` : `fg_${keyId}_…`),
      },
      { head: texts.for, cell: ({ mode }) => texts[mode] },
      { head: words.partnerPages.state, cell: ({ state }) => chip(tones[state], texts.states[state]) },
      { head: texts.issued, cell: ({ createdAt }) => format.ago(createdAt) },
      {
        head: texts.ends,
        cell: ({ revokedAt, expiresAt }) => format.time(revokedAt ?? expiresAt) ?? texts.never,
      },
      { head: texts.used, cell: ({ lastUsedAt }) => (lastUsedAt ? format.ago(lastUsedAt) : texts.notUsed) },
      {
        head: '',
        cell: ({ keyId, state }) =>
          state !== 'open'
            ? NOTHING
            : together(
                action(operations.keyRotate, { keyId, overlapMs: DAY_MS }, texts.rotate, { of: keyId }),
                action(operations.keyRevoke, { keyId }, texts.revoke, { kind: 'danger', of: keyId }),
              ),
      },
    ],
  });
  const issue = actions(action(operations.keyIssue, { partnerId }, texts.issue));
  return card(
    texts.title,
    html`<p class="hint">${texts.about}</p>
      !${table} !${issue}`,
  );
}

async function webhooksHtml(page: PageRequest, { id: partnerId, name }: Partner) {
  const { words, operations, read } = page;
  const { ofWebhooks: texts } = words.partnerPages;
  const found = await read(operations.webhookListAll, { partnerId });
  if (!found) return '';
  const partners = new Map([[partnerId, name]]);
  return card(
    texts.title,
    await webhookListing(page, found.webhooks, { caption: texts.title, empty: texts.none, partners }),
  );
}

async function latestHtml(page: PageRequest, { id }: Partner) {
  const { words, operations, read } = page;
  const { partnerPages: texts } = words;
  const subject = `partner:${id}`;
  const [made, own] = await Promise.all([
    read(operations.auditList, { subject, limit: LATEST }),
    read(operations.auditList, { actor: subject, limit: LATEST }),
  ]);
  if (!made || !own) return '';
  const latest = [...made, ...own].toSorted((one, other) => +other.at - +one.at).slice(0, LATEST);
  const all = [
    html`<a href="${address('/audit', { subject })}">${texts.allChanges}</a>`,
    html`<a href="${address('/audit', { actor: subject })}">${texts.byPartner}</a>`,
  ];
  const list = await changesHtml(page, latest, await namesIn(page, latest), {
    withUndo: true,
  });
  return card(
    texts.changes,
    html`!${list}
      <p class="actions">!${all.join(' ')}</p>`,
  );
}
