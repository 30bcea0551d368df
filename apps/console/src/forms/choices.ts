import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';

/** Something that can be chosen in place of an id that would have to be typed. */
export interface Choice {
  value: string;
  name: string;
}

type Choose = (page: PageRequest, given: Texts) => Promise<readonly Choice[]>;

const choice = (value: string | number, name: string): Choice => ({ value: String(value), name });

const events: Choose = async ({ read, operations }) =>
  ((await read(operations.eventList, {})) ?? []).map(({ id, name }) => choice(id, name)).toReversed();

const tickets: Choose = async ({ read, operations }, { eventId }) =>
  eventId
    ? ((await read(operations.ticketList, { eventId })) ?? []).map(({ id, title }) => choice(id, title))
    : [];

const gates: Choose = async ({ read, operations }, { eventId }) =>
  eventId
    ? ((await read(operations.gateList, { eventId })) ?? []).map(({ id, name }) => choice(id, name))
    : [];

const partners: Choose = async ({ read, operations }) =>
  ((await read(operations.partnerList, {})) ?? []).map(({ id, name }) => choice(id, name));

/** What can be chosen for a field, by its name. A field without choices is typed. */
export const CHOICES: Partial<Record<string, Choose>> = {
  eventId: events,
  ticketId: tickets,
  partnerId: partners,
  tickets,
  gates,
};

/** What is proposed while a field is typed, by its name. Any other value can be typed as well. */
export const PROPOSALS: Partial<Record<string, () => readonly string[]>> = {
  timeZone: () => Intl.supportedValuesOf('timeZone'),
  currency: () => Intl.supportedValuesOf('currency'),
};
