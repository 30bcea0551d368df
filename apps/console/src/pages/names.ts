import { maskPassCodes } from '@floodgate/contract';
import { HOUSE_PARTNER_ID } from '@floodgate/database';
import { eventsWith } from '@floodgate/operators';
import type { PageRequest } from '../add-page.ts';

/** The names of an event and of its tickets, and its zone. */
export interface EventNames {
  name: string;
  timeZone: string | null;
  tickets: ReadonlyMap<number, string>;
}

/**
 * Returns the address of the page of a registration. Without the code of the pass reference: an address ends up
 * in histories and logs, and the code opens the door.
 */
export const personPath = (passReference: string) =>
  `/people/${encodeURIComponent(maskPassCodes(passReference))}`;

/** Resolves to the names of events and their tickets, by the id of the event. */
export async function eventNames({ read, operations }: PageRequest, eventIds: Iterable<number>) {
  const named = [...new Set(eventIds)].map(async (eventId): Promise<[number, EventNames]> => {
    const [event, tickets = []] = await Promise.all([
      read(operations.eventShow, { eventId }),
      read(operations.ticketList, { eventId }),
    ]);
    const titles = new Map(tickets.map(({ id, title }) => [id, title]));
    return [
      eventId,
      { name: event?.name ?? String(eventId), timeZone: event?.timeZone ?? null, tickets: titles },
    ];
  });
  return new Map(await Promise.all(named));
}

/** A partner that an operator can choose. */
export interface KnownPartner {
  id: number;
  name: string;
  /** It registers the guests of the operator. */
  isHouse: boolean;
  disabledAt: Date | null;
}

/**
 * Resolves to the partners that an operator may know: all, or those that may sell its events. The house partner
 * registers guests of every event, and comes last.
 */
export async function knownPartners(page: PageRequest): Promise<readonly KnownPartner[]> {
  const { read, operations, operator } = page;
  return (
    (await read(operations.partnerList, {})) ?? sellersOf(page, eventsWith(operator, 'events:read') ?? [])
  );
}

async function sellersOf(
  { read, operations, words }: PageRequest,
  eventIds: Iterable<number>,
): Promise<readonly KnownPartner[]> {
  const sellers = [...new Set(eventIds)].map((eventId) => read(operations.eventPartners, { eventId }));
  const all = (await Promise.all(sellers)).flatMap((some) => some ?? []);
  const known = new Map(
    all.map(({ partnerId: id, partner: name, disabledAt }) => [id, { id, name, disabledAt, isHouse: false }]),
  );
  const house = { id: HOUSE_PARTNER_ID, name: words.partnerPages.house, disabledAt: null, isHouse: true };
  return [...[...known.values()].toSorted((one, other) => one.id - other.id), house];
}

/** Resolves to the names of partners by their ids: of all, or of those that may sell these events. */
export async function partnerNames(page: PageRequest, eventIds: Iterable<number>) {
  const { read, operations } = page;
  const partners = (await read(operations.partnerList, {})) ?? (await sellersOf(page, eventIds));
  return new Map(partners.map(({ id, name }) => [id, name]));
}
