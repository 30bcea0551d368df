import type { Seller } from '@floodgate/events/console';
import { mayUse } from '@floodgate/operators';
import { html } from 'ghtml';
import { askedHtml } from '../forms/sent.ts';
import { actions, address, buttonLink, card, chip, link, NOTHING, together } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { allocationsHtml, partnerShown } from './allocations.ts';
import { eventPage, type EventPageRequest } from './event-page.ts';
import { knownPartners, partnerNames } from './names.ts';

/** Shows who may sell an event, with the seats that are theirs alone, and where messages about it go. */
export const showPartners = eventPage('partners', async (page) => {
  const { words, may } = page;
  return {
    parts: [
      card(words.sellers.title, sellersHtml(page) + (await grantHtml(page))),
      may('tickets:read') ? await allocationsCard(page) : '',
      await webhooksCard(page),
    ],
    help: 'operate/allocations',
  };
});

function sellersHtml(page: EventPageRequest) {
  const { words, format, sellers, action, operations, event } = page;
  const texts = words.sellers;
  const names = new Map(sellers.map(({ partnerId, partner }) => [partnerId, partner]));
  return listing({
    caption: texts.title,
    things: sellers,
    empty: texts.nobody,
    format,
    columns: [
      { head: texts.partner, cell: ({ partnerId }) => partnerShown(page, partnerId, names) },
      { head: texts.state, cell: (seller) => stateChipOf(seller, page) },
      { head: texts.keys, cell: ({ openKeys }) => openKeys },
      {
        head: '',
        cell: ({ partnerId, partner, openKeys, disabledAt }) =>
          together(
            openKeys > 0 || disabledAt ? NOTHING : issueKeyLink(page, { partnerId, partner }),
            allocateLink(page, partnerId, partner),
            action(operations.eventRevoke, { eventId: event.id, partnerId }, texts.revoke, {
              kind: 'danger',
              of: partner,
            }),
          ),
      },
    ],
  });
}

function stateChipOf({ disabledAt, openKeys }: Seller, { words: { sellers } }: EventPageRequest) {
  if (disabledAt) return chip('bad', sellers.disabled);
  return openKeys > 0 ? chip('ok', sellers.maySell) : chip('warn', sellers.noKey);
}

/** Returns the form that makes a key for an event, or nothing if the operator may not make one. */
export const issueKeyLink = (
  { action, operations, event, words }: EventPageRequest,
  { partnerId, partner }: Pick<Seller, 'partnerId' | 'partner'>,
) =>
  action(operations.keyIssue, { partnerId, mode: event.mode }, words.partnerPages.ofKeys.issue, {
    kind: 'primary',
    of: partner,
  });

/** The form asks for the ticket, unless there is only one. */
function allocateLink(
  { may, event, tickets, words, url, action, operations }: EventPageRequest,
  partnerId: number,
  of: string,
) {
  const [only] = tickets;
  if (tickets.length === 0) return NOTHING;
  if (only && tickets.length === 1)
    return action(operations.ticketAllocate, { ticketId: only.id, partnerId }, words.tickets.allocate, {
      of,
    });
  if (!may(operations.ticketAllocate.scope)) return NOTHING;
  const given = { eventId: event.id, partnerId, back: url.split('?', 1)[0] };
  return buttonLink(address('/do/ticketAllocate', given), words.tickets.allocate, { of });
}

/** Resolves to the form that lets one more partner sell the event: it is chosen, and nothing else is asked. */
async function grantHtml(page: EventPageRequest) {
  const { operations, may, sellers, event, words } = page;
  if (!may(operations.eventGrant.scope)) return '';
  const selling = new Set(sellers.map(({ partnerId }) => partnerId));
  const others = (await knownPartners(page)).filter(
    ({ id, isHouse, disabledAt }) => !isHouse && !disabledAt && !selling.has(id),
  );
  const seesAll = mayUse(page.operator, operations.partnerList.scope);
  if (others.length === 0)
    return html`<p class="hint">${seesAll ? words.sellers.noOthers : words.sellers.askOwner}</p>`;
  return html`<form class="filter" method="post" action="/do/eventGrant">
    <input type="hidden" name="eventId" value="${event.id}" />
    <input type="hidden" name="back" value="/events/${event.id}/partners" />
    !${askedHtml('partnerId')}
    <label for="partnerId">${words.sellers.another}</label>
    !${selectHtml({
      id: 'partnerId',
      name: 'partnerId',
      chosen: undefined,
      choose: words.forms.choose,
      choices: others.map(({ id, name }) => [id, name]),
    })}
    <button class="primary">${words.sellers.grant}</button>
  </form>`;
}

async function allocationsCard(page: EventPageRequest) {
  const { read, operations, tickets, words } = page;
  const allocated = tickets.filter((ticket) => ticket.allocated);
  const lists = await Promise.all(
    allocated.map(({ id }) => read(operations.ticketAllocations, { ticketId: id })),
  );
  const allocations = lists.flatMap((list) => list ?? []);
  const table = allocationsHtml(page, {
    allocations,
    names: await partnerNames(page, [page.event.id]),
    tickets,
  });
  const about = html`<p class="hint">${words.sellers.aboutAllocations}</p>`;
  return card(words.tickets.allocations, about + table + reserveHtml(page, allocations));
}

/**
 * Returns the form that reserves the first seats for a partner, such as the one that was just let in. A partner
 * that has an allocation is left out: this form would replace it.
 */
function reserveHtml(
  { may, operations, query, sellers, tickets, event, words }: EventPageRequest,
  allocations: readonly { partnerId: number }[],
) {
  if (!may(operations.ticketAllocate.scope) || tickets.length === 0) return '';
  const allocated = new Set(allocations.map(({ partnerId }) => partnerId));
  const others = sellers.filter(({ partnerId }) => !allocated.has(partnerId));
  if (others.length === 0) return '';
  const { sellers: texts, fields } = words;
  return html`<form class="filter" method="post" action="/do/ticketAllocate">
    <input type="hidden" name="back" value="/events/${event.id}/partners" />
    !${askedHtml('reserved')}
    <label for="for">${texts.reserveFor}</label>
    !${selectHtml({
      id: 'for',
      name: 'partnerId',
      chosen: query['partnerId'],
      choose: words.forms.choose,
      choices: others.map(({ partnerId, partner }) => [partnerId, partner]),
    })}
    <label for="ticketId">${words.tickets.ticket}</label>
    !${selectHtml({
      id: 'ticketId',
      name: 'ticketId',
      chosen: tickets.length === 1 ? String(tickets[0]!.id) : undefined,
      choose: words.forms.choose,
      choices: tickets.map(({ id, title }) => [id, title]),
    })}
    <label for="reserved">${fields['reserved']!.label}</label>
    <input id="reserved" name="reserved" inputmode="numeric" size="6" autocomplete="off" required />
    <button>${texts.reserve}</button>
  </form>`;
}

interface SelectOptions {
  id: string;
  name: string;
  /** Undefined: nothing is chosen yet. */
  chosen: string | undefined;
  choose: string;
  choices: readonly (readonly [value: number, name: string])[];
}

const selectHtml = ({ id, name, chosen, choose, choices }: SelectOptions) =>
  html`<select id="${id}" name="${name}" required>
    <option value="">${choose}</option>
    !${choices.map(
      ([value, text]) =>
        html`<option value="${value}" !${String(value) === chosen ? 'selected' : ''}>${text}</option>`,
    )}
  </select>`;

async function webhooksCard(page: EventPageRequest) {
  const { read, operations, event, words, format, action } = page;
  const webhooks = await read(operations.webhookList, { eventId: event.id });
  if (!webhooks) return '';
  const texts = words.sellers;
  const names = await partnerNames(page, [page.event.id]);
  const table = listing({
    caption: texts.webhooks,
    things: webhooks,
    empty: texts.noWebhooks,
    format,
    columns: [
      { head: texts.address, cell: ({ id, url }) => link(`/webhooks/${id}`, url) },
      { head: texts.partner, cell: ({ partnerId }) => partnerShown(page, partnerId, names) },
      {
        head: texts.state,
        cell: ({ state }) => chip(state === 'active' ? 'ok' : 'warn', texts.webhookStates[state]),
      },
      { head: texts.failures, cell: ({ failures }) => failures },
    ],
  });
  return card(
    texts.webhooks,
    table + actions(action(operations.webhookCreate, { eventId: event.id }, texts.addWebhook)),
  );
}
