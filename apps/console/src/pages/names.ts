import { maskPassCodes } from '@floodgate/contract';
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

/** Resolves to the names of partners by their ids: of all, or of those that may sell these events. */
export async function partnerNames({ read, may, operations }: PageRequest, eventIds: Iterable<number>) {
  if (may('partners:read')) {
    const partners = await read(operations.partnerList, {});
    if (partners) return new Map(partners.map(({ id, name }) => [id, name]));
  }
  const sellers = [...new Set(eventIds)].map((eventId) => read(operations.eventPartners, { eventId }));
  const all = (await Promise.all(sellers)).flatMap((some) => some ?? []);
  return new Map(all.map(({ partnerId, partner }) => [partnerId, partner]));
}
