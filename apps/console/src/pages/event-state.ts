import type { Event } from '@floodgate/events/console';
import type { SaleOfEvent } from '@floodgate/tickets/console';
import type { Format } from '../view/format.ts';
import { chip, type Tone } from '../view/html.ts';
import type { Words } from '../words/index.ts';

/** An event without an end is over a day after its start. */
const WITHOUT_END_MS = 24 * 3_600_000;

/** The part of time in which an event is. */
export type Phase = 'upcoming' | 'running' | 'past';

/** Returns whether an event comes, takes place or is over. Without a time, it comes. */
export function phaseOf({ startsAt, endsAt }: Pick<Event, 'startsAt' | 'endsAt'>, now: Date): Phase {
  const ends = endsAt ?? (startsAt && new Date(+startsAt + WITHOUT_END_MS));
  if (ends && ends <= now) return 'past';
  return startsAt && startsAt <= now ? 'running' : 'upcoming';
}

/** The sale of an event, and who may sell it. */
export interface EventSale {
  event: Event;
  /** Undefined: it has no tickets. */
  sale: SaleOfEvent | undefined;
  /** Partners that may sell it. Undefined: not known. */
  sellers: number | undefined;
}

/** Returns the state of the sale of an event: in words, what is wrong first. */
export const saleChip = (of: EventSale, words: Words, format: Format, now = new Date()) =>
  chip(...saleState(of, words, format, now));

function saleState(
  { event, sale, sellers }: EventSale,
  words: Words,
  format: Format,
  now: Date,
): [Tone, string] {
  const { states } = words.event;
  if (event.calledOffAt) return ['bad', states.calledOff];
  if (event.archivedAt) return ['quiet', states.archived];
  if (phaseOf(event, now) === 'past') return ['quiet', states.over];
  if (sellers === 0) return ['bad', states.noSellers];
  if (!sale || sale.tickets === 0) return ['warn', states.noTickets];
  return ticketsState(sale, words, format);
}

/** Sold out is only an event without seats. One whose seats nobody can buy now says why. */
function ticketsState(sale: SaleOfEvent, words: Words, format: Format): [Tone, string] {
  const { states } = words.event;
  if (sale.active === 0) return ['warn', states.offSale];
  if (sale.open > 0 && sale.openLeft > 0) return ['ok', states.onSale];
  if (sale.left <= 0) return ['warn', soldOut(sale, words, format)];
  if (sale.opensAt === null && sale.active < sale.tickets) return ['warn', states.partlyOff];
  return sale.opensAt ? ['quiet', states.opens(format.timeText(sale.opensAt))] : ['quiet', states.ended];
}

const soldOut = ({ waiting }: SaleOfEvent, { event: { states } }: Words, format: Format) =>
  waiting > 0 ? states.soldOutWaiting(format.number(waiting)) : states.soldOut;
