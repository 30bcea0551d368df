import { defineAction, Id, perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { findEvent, lockEvent, markCalledOff } from '@floodgate/events';
import { seatsOfEvent, serialsOfMatches, type PartnerSeats } from '@floodgate/registrations/matches';
import { rangesAfter, rangesUpTo } from '@floodgate/registrations/serial-ranges';
import { Failure } from '@floodgate/service/failure';
import { closeWaitingLists, DEFAULT_AUTHOR, endHolds, listTickets, switchSales } from '@floodgate/tickets';
import { Type } from '@sinclair/typebox';
import { findOpenJob, startJob, type StartedJob } from '../jobs.ts';
import { changedText, countUpToNow, mailsAbout, type Start } from './previewed.ts';
import { moneyText, nameSeats, refundsOf, sumAmounts, type NamedSeats, type Refund } from './refunds.ts';

/** The consequences of calling off an event. */
export interface CallOffPreview {
  eventId: number;
  eventName: string;
  mode: string;
  /** Null: it takes place. */
  calledOffAt: Date | null;
  /** Registrations that are sold. */
  count: number;
  upTo: number[];
  /** Seats in holds, baskets and offers. */
  held: number;
  waiting: number;
  ticketsOnSale: number;
  seats: NamedSeats[];
  /** ISO 4217. Null: the event has no currency. */
  currency: string | null;
  refunds: Refund[];
  follows: string[];
}

const sumOf = (seats: readonly PartnerSeats[], field: 'sold' | 'held') =>
  seats.reduce((sum, one) => sum + one[field], 0);

/** Returns what calling off an event would do. */
export async function previewCallOff(db: Database, eventId: number): Promise<CallOffPreview> {
  const event = await findEvent(db, eventId);
  const { shardId, name: eventName, mode, calledOffAt, currency } = event;
  // First, so that nothing below it comes later.
  const { upTo } = await countUpToNow(db, shardId, { eventId });
  const tickets = await listTickets(db, eventId);
  const seats = await nameSeats(db, await seatsOfEvent(db, shardId, eventId, rangesUpTo(upTo)), tickets);
  const refunds = refundsOf(seats);
  const [count, held] = [sumOf(seats, 'sold'), sumOf(seats, 'held')];
  const waiting = tickets.reduce((sum, ticket) => sum + ticket.waiting, 0);
  const follows = [
    calledOffAt && 'The event is called off already. Its remaining registrations are cancelled.',
    'The sale of all tickets stops first, and cannot be resumed.',
    `${held} seats in holds, baskets and offers are released, and ${waiting} waiting entries end.`,
    `${count} registrations are cancelled, also those of failed batches and of admitted seats.`,
    'Registrations that come until the sale has stopped are cancelled, too.',
    ...refundTexts(refunds, currency),
    'Each partner gets its cancellations by webhook and list.',
    mailsAbout(event),
  ].filter((line) => typeof line === 'string');
  const ticketsOnSale = tickets.filter(({ active }) => active).length;
  const facts = { eventId, eventName, mode, calledOffAt, count, upTo, held, waiting, ticketsOnSale };
  return { ...facts, seats, currency, refunds, follows };
}

/** Floodgate moves no money, so it only says how much it is. */
function refundTexts(refunds: readonly Refund[], currency: string | null) {
  const [guests = [], paid = []] = [true, false].map((is) =>
    refunds.filter(({ isGuests }) => isGuests === is),
  );
  const amount = moneyText(sumAmounts(paid), currency);
  const owners = paid.length === 1 ? paid[0]!.partner : `${paid.length} partners`;
  return [
    paid.length > 0 &&
      `By the prices of the sale, ${amount} is to be paid back to the customers of ${owners}.`,
    ...guests.map(
      ({ partner, seats }) => `${seats} seats of ${partner} are guests: nothing is to be paid back.`,
    ),
  ];
}

/**
 * Stops the sale of an event for good, and ends its holds, baskets, offers and waiting entries. Repeated, it
 * changes nothing.
 */
export const callOffAction = defineAction({
  name: 'event.call-off',
  input: Type.Object({ eventId: Id }),
  run: async (db, { eventId }, note) => {
    // Exclusive: a ticket that goes on sale meanwhile waits, and is refused.
    await lockEvent(db, eventId);
    const { calledOffAt } = await findEvent(db, eventId);
    const { changed, shardId, all } = await switchSales(db, eventId, false, DEFAULT_AUTHOR);
    await markCalledOff(db, eventId);
    const stopped = {
      endedHolds: await endHolds(db, shardId, all),
      endedEntries: await closeWaitingLists(db, shardId, all),
    };
    if (calledOffAt === null || changed.length > 0)
      note(`event:${eventId}`, { after: { calledOff: true, stoppedTickets: changed, ...stopped } });
    return { stoppedTickets: changed, ...stopped };
  },
});

/** Throws Failure unless the registrations of the preview are still those of the event. */
async function assertPreviewed(db: Database, shardId: number, eventId: number, { expect, upTo }: Start) {
  const ranges = upTo && rangesUpTo(upTo);
  // Without holds: they come and go every second of a sale.
  const found = sumOf(await seatsOfEvent(db, shardId, eventId, ranges), 'sold');
  if (found !== expect) throw new Failure(changedText(expect, found));
  if (upTo === undefined) return 0;
  return sumOf(await seatsOfEvent(db, shardId, eventId, rangesAfter(upTo)), 'sold');
}

/** A called-off event. */
export interface CalledOff extends StartedJob {
  /** When it had been called off before this call; null: it was not. */
  wasCalledOffAt: Date | null;
}

/**
 * Calls an event off: stops its sale, and starts the job that cancels all its registrations. Without any, the
 * job has nothing to cancel. Throws Failure with both numbers if its registrations are not those of the preview,
 * or if it was called off before and nothing is left. If its job is running, returns it.
 */
export async function callOff(
  db: Database,
  eventId: number,
  start: Start,
  actor: string,
): Promise<CalledOff> {
  const { shardId, currency, calledOffAt: wasCalledOffAt } = await findEvent(db, eventId);
  const open = await findOpenJob(db, shardId, eventId, 'call-off');
  if (open) return { ...open, isNew: false, wasCalledOffAt };
  const cameSince = await assertPreviewed(db, shardId, eventId, start);
  const stopped = await perform(db, callOffAction, { eventId }, actor);
  const tickets = await listTickets(db, eventId);
  const seats = await nameSeats(db, await seatsOfEvent(db, shardId, eventId), tickets);
  const items = await serialsOfMatches(db, shardId, { eventId }, { onlyLive: true });
  if (items.length === 0 && wasCalledOffAt) throw new Failure(nothingLeft(eventId, wasCalledOffAt));
  const job = {
    id: start.jobId,
    kind: 'call-off' as const,
    shardId,
    eventId,
    filter: { eventId },
    shownFilter: { eventId },
    result: { ...stopped, seats, currency, refunds: refundsOf(seats) },
    mayBeEmpty: true,
  };
  const started = await startJob(db, job, actor, () => Promise.resolve({ items, cameSince }));
  return { ...started, wasCalledOffAt };
}

const nothingLeft = (eventId: number, before: Date) =>
  `event ${eventId} was called off at ${before.toISOString()}, and no registration is left`;
