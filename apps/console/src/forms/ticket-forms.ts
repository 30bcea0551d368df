import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { eventName, eventOf, partnerOf, ticketOf } from './subjects.ts';

const HELD_LATER = ['withHolds'] as const;

/** Resolves to the sentence that says which ticket it is, and how many of its seats are taken. */
async function aboutTicket(page: PageRequest, given: Texts) {
  const ticket = await ticketOf(page, given);
  if (!ticket) return [];
  const { title, taken, capacity, eventId } = ticket;
  const { number } = counted(page);
  const event = await eventName(page, { eventId: String(eventId) });
  return [page.words.about.ticket(title, event, number(taken), number(capacity))];
}

const counted = ({ format }: PageRequest) => ({ number: (value: number) => format.number(value) });

/** Returns what says, after which ticket it is, what follows. */
const aboutWith =
  (follows: (page: PageRequest, taken: string, left: string) => readonly (string | false)[]) =>
  async (page: PageRequest, given: Texts) => {
    const ticket = await ticketOf(page, given);
    if (!ticket) return [];
    const { number } = counted(page);
    return [...(await aboutTicket(page, given)), ...follows(page, number(ticket.taken), number(ticket.left))];
  };

const SWITCHED = 'active';

const aboutStop = aboutWith(({ words: { about } }) => [about.stops, about.held]);
const aboutResume = aboutWith(({ words: { about } }, _taken, left) => [about.resumes(left)]);

/** Resolves to the allocation of a partner, if it is given. None: it has no limit, and no seats of its own. */
async function allocationOf({ read, operations }: PageRequest, { ticketId = '', partnerId }: Texts) {
  if (!partnerId) return undefined;
  const allocations = (await read(operations.ticketAllocations, { ticketId })) ?? [];
  const none = { reserved: 0, cap: null, releasesAt: null };
  return allocations.find((one) => String(one.partnerId) === partnerId) ?? none;
}

export const ticketForms = {
  ticketCreate: {
    fields: ['title', 'capacity', 'price', 'saleStartsAt', 'saleEndsAt', 'benefits'],
    about: async (page, given) => [await eventName(page, given), page.words.about.newTicket],
    next: ({ id, eventId }) => `/events/${eventId}/tickets/${id}`,
  },
  ticketUpdate: {
    fields: [
      'title',
      'benefits',
      'capacity',
      'price',
      'saleStartsAt',
      'saleEndsAt',
      'offerHours',
      'waitingClosesAt',
    ],
    parts: {
      capacity: {
        fields: ['capacity'],
        about: aboutWith(({ words: { about } }, taken) => [about.capacity(taken)]),
      },
      price: { fields: ['price'], about: aboutWith(({ words: { about } }, taken) => [about.price(taken)]) },
      sale: {
        fields: ['saleStartsAt', 'saleEndsAt'],
        about: aboutWith(({ words: { about } }) => [about.sale]),
      },
      texts: { fields: ['title', 'benefits'], about: aboutWith(({ words: { about } }) => [about.texts]) },
      waiting: {
        fields: ['offerHours', 'waitingClosesAt'],
        about: aboutWith(({ words: { about } }) => [about.waiting]),
      },
      // The link to it says whether the sale stops or resumes.
      switch: {
        fields: HELD_LATER,
        about: (page, given) => (given[SWITCHED] === 'true' ? aboutResume : aboutStop)(page, given),
        isDangerous: (given) => given[SWITCHED] !== 'true',
        texts: (given) => (given[SWITCHED] === 'true' ? 'ticketUpdate/resume' : 'ticketUpdate/switch'),
      },
      resume: { fields: [], about: aboutResume },
    },
    current: ticketOf,
    about: aboutTicket,
  },
  ticketAllocate: {
    subject: ['ticketId'],
    fields: ['reserved', 'cap', 'releasesAt'],
    current: allocationOf,
    about: async (page, given) => {
      const partner = await partnerOf(page, given);
      const of = partner && page.words.about.allocationOf(partner.name);
      const ticket = await aboutWith(({ words: { about } }, _taken, left) => [about.allocation(left)])(
        page,
        given,
      );
      return [...ticket, of];
    },
  },
  ticketStopAll: {
    fields: HELD_LATER,
    isDangerous: true,
    about: async (page, { eventId = '' }) => {
      const { read, operations, words } = page;
      const tickets = (await read(operations.ticketList, { eventId })) ?? [];
      const selling = tickets.filter(({ active }) => active).map(({ title }) => title);
      return [
        await eventName(page, { eventId }),
        words.about.stopsAll(page.format.list(selling)),
        words.about.held,
      ];
    },
  },
  ticketResumeAll: {
    about: async (page, { eventId = '' }) => {
      const { read, operations, words } = page;
      const event = await eventOf(page, { eventId });
      const stopped = new Set(event?.stoppedTickets);
      const tickets = (await read(operations.ticketList, { eventId })) ?? [];
      const resumed = tickets.filter(({ id }) => stopped.has(id)).map(({ title }) => title);
      return [event?.name, words.about.resumesAll(page.format.list(resumed))];
    },
  },
} satisfies FormDefinitions;
