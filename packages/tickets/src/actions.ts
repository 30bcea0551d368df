import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Id, instantOrNull, Name, Seats, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { decimalsOf, MAX_PRICE, priceRule } from '@floodgate/events/currency';
import { Failure } from '@floodgate/service/failure';
import { allocate, assertRoom, LIST_OR_ALLOCATIONS } from './allocations.ts';
import {
  assertMayBeOnSale,
  createTicket,
  DEFAULT_AUTHOR,
  describeTicket,
  endHolds,
  lockTicket,
  publishTicketState,
  settingsOf,
  switchAlone,
  switchSales,
  updateTicket,
  type TicketSettings,
} from './tickets.ts';

const PRICE_RULE = priceRule(null);
/** Two weeks. */
const MOST_OFFER_HOURS = 336;
const ORDER_RULE = 'the sale must start before it ends';

const TimeOrNone = Type.Optional(instantOrNull('a time, or none'));

const optional = {
  price: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_PRICE, description: PRICE_RULE })),
  benefits: Type.Optional(text(0, 4_000)),
  active: Type.Optional(Flag),
  saleStartsAt: typedAs('--sale-starts', TimeOrNone),
  saleEndsAt: typedAs('--sale-ends', TimeOrNone),
  offerHours: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: MOST_OFFER_HOURS }), Type.Null()], {
      description: `hours from 1 to ${MOST_OFFER_HOURS}, or none`,
    }),
  ),
  waitingClosesAt: typedAs('--waiting-closes', TimeOrNone),
  /**
   * The name that the operator chose for partners. It is not the actor in the audit log, who may be a
   * person's address.
   */
  lastModifiedBy: typedAs('--public-name', Type.Optional(Name)),
};

const PUBLIC_NAME_RULE = 'a name for partners, not an e-mail address';

/** Ends all holds and offers, too. */
const WithHolds = Type.Optional(Flag);

function checkSettings(
  settings: Partial<TicketSettings> & { lastModifiedBy?: string },
): Record<string, string> {
  const { price = 0, saleStartsAt, saleEndsAt, lastModifiedBy } = settings;
  return {
    ...(lastModifiedBy?.includes('@') && { lastModifiedBy: PUBLIC_NAME_RULE }),
    // The column would round it silently.
    ...(price !== Number(price.toFixed(decimalsOf(null))) && { price: PRICE_RULE }),
    ...(saleStartsAt && saleEndsAt && saleStartsAt >= saleEndsAt && { saleStartsAt: ORDER_RULE }),
  };
}

export const createTicketAction = defineAction({
  name: 'ticket.create',
  input: Type.Object({ eventId: Id, title: Name, capacity: Seats, ...optional }),
  check: checkSettings,
  run: async (db, { eventId, lastModifiedBy = DEFAULT_AUTHOR, ...settings }, note) => {
    const ticket = await createTicket(db, eventId, settings, lastModifiedBy);
    note(`ticket:${ticket.id}`, { after: { eventId, ...settingsOf(ticket) } });
    return describeTicket(ticket);
  },
});

/** Changes the given settings of a ticket. */
export const updateTicketAction = defineAction({
  name: 'ticket.update',
  input: Type.Object({
    ticketId: Id,
    title: Type.Optional(Name),
    capacity: Type.Optional(Seats),
    ...optional,
    withHolds: WithHolds,
  }),
  check: ({ ticketId: _ticketId, lastModifiedBy, withHolds, ...settings }) => {
    if (withHolds && settings.active !== false)
      return { withHolds: 'only when the ticket is taken off sale' };
    return Object.keys(settings).length > 0
      ? checkSettings({ ...settings, ...(lastModifiedBy !== undefined && { lastModifiedBy }) })
      : { ticketId: 'nothing to change; give at least one setting' };
  },
  refusals: { sales_window_is_ordered: ORDER_RULE },
  run: async (db, { ticketId, lastModifiedBy = DEFAULT_AUTHOR, withHolds, ...settings }, note) => {
    const before = await lockTicket(db, ticketId);
    if (settings.capacity !== undefined) await assertRoom(db, before.shardId, before, settings.capacity);
    if (settings.active !== undefined) await switchAlone(db, before);
    const ticket = await updateTicket(db, before, settings, lastModifiedBy);
    await assertMayBeOnSale(db, ticket);
    if (ticket.allocated && ticket.offerHours !== null) throw new Failure(LIST_OR_ALLOCATIONS);
    const [wasSoldOut, isSoldOut] = [before, ticket].map(({ taken, capacity }) => taken === capacity);
    if (wasSoldOut !== isSoldOut) await publishTicketState(db, before);
    const ended = withHolds ? { endedHolds: await endHolds(db, before.shardId, [ticketId]) } : {};
    const { eventId } = before;
    const after = { ...settingsOf(ticket), ...ended };
    note(`ticket:${ticketId}`, { eventId, before: settingsOf(before), after });
    return { ...describeTicket(ticket), ...ended };
  },
});

/** Sets how many seats of a ticket only this partner may sell, and how many it may sell at most. */
export const allocateTicketAction = defineAction({
  name: 'ticket.allocate',
  input: Type.Object({
    ticketId: Id,
    partnerId: Id,
    reserved: Type.Optional(Seats),
    cap: Type.Optional(Type.Union([Seats, Type.Null()], { description: `${Seats.description!}, or none` })),
    releasesAt: TimeOrNone,
  }),
  check: ({ reserved = 0, cap = null, releasesAt }): Record<string, string> => ({
    ...(cap !== null && cap < reserved && { cap: 'at least the number of reserved seats' }),
    ...(releasesAt && reserved === 0 && { releasesAt: 'only with reserved seats' }),
  }),
  run: async (db, { ticketId, partnerId, reserved = 0, cap = null, releasesAt = null }, note) => {
    const { eventId, before, after } = await allocate(db, ticketId, partnerId, { reserved, cap, releasesAt });
    const [was = null, is = null] = [before, after].map((all) =>
      all.find((one) => one.partnerId === partnerId),
    );
    note(`ticket:${ticketId}`, { eventId, before: { allocation: was }, after: { allocation: is } });
    return after;
  },
});

/**
 * Takes all tickets of an event off sale. Seats that are held can still be confirmed, unless `withHolds` ends
 * the holds. Resuming puts the same tickets on sale again, and no others.
 */
export const stopSalesAction = defineAction({
  name: 'ticket.stop-all',
  input: Type.Object({ eventId: Id, withHolds: WithHolds }),
  run: async (db, { eventId, withHolds }, note) => {
    const { changed, shardId, all } = await switchSales(db, eventId, false, DEFAULT_AUTHOR);
    for (const id of changed) note(`ticket:${id}`, { before: { active: true }, after: { active: false } });
    if (!withHolds) return { eventId, tickets: changed, active: false };
    const endedHolds = await endHolds(db, shardId, all);
    note(`event:${eventId}`, { after: { endedHolds } });
    return { eventId, tickets: changed, active: false, endedHolds };
  },
});

export const resumeSalesAction = defineAction({
  name: 'ticket.resume-all',
  input: Type.Object({ eventId: Id }),
  run: async (db, { eventId }, note) => {
    const { changed } = await switchSales(db, eventId, true, DEFAULT_AUTHOR);
    for (const id of changed) note(`ticket:${id}`, { before: { active: false }, after: { active: true } });
    return { eventId, tickets: changed, active: true };
  },
});
