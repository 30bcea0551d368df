import type { PageRequest } from '../add-page.ts';
import { address, type Texts } from '../view/html.ts';
import { pathOf } from '../view/path-of.ts';
import type { FormDefinitions } from './definitions.ts';
import { WAS } from './sent.ts';
import { eventName, eventOf, partnerName, sentTo } from './subjects.ts';
import { movedAlike } from './times.ts';

/** The page with the partners that may sell an event. */
const sellersPath = (eventId: string) => `/events/${eventId}/partners`;

/** Returns what says which event it is, and then what follows. */
const aboutWith = (follows: (page: PageRequest) => string) => async (page: PageRequest, given: Texts) => [
  await eventName(page, given),
  follows(page),
];

/** Returns the fields with the end as far from the start as before, if only the start was changed. */
function withEndMoved(given: Texts): Texts {
  const { startsAt = '', endsAt = '', [`${WAS}startsAt`]: was = '' } = given;
  if (startsAt === was || endsAt !== given[`${WAS}endsAt`]) return given;
  return { ...given, endsAt: movedAlike(endsAt, was, startsAt) };
}

export const eventForms = {
  eventCreate: {
    fields: ['name', 'passPrefix', 'mode', 'currency', 'duplicatePolicy', 'duplicateScope', 'cancelUntil'],
    about: (page) => Promise.resolve([page.words.about.newEvent]),
    next: ({ id }) => `/events/${id}`,
  },
  eventUpdate: {
    parts: {
      place: {
        fields: ['name', 'venue', 'startsAt', 'endsAt', 'timeZone'],
        box: { name: 'movesEnd', of: ['startsAt', 'endsAt'], apply: withEndMoved },
        about: async (page, given) => {
          const sent = page.format.number(await sentTo(page, given));
          return [await eventName(page, given), page.words.about.place(sent)];
        },
      },
      cancellation: {
        fields: ['cancelUntil', 'mailOperatorCancels', 'mailPartnerCancels'],
        about: aboutWith(({ words }) => words.about.cancellation),
      },
      mail: { fields: ['language', 'replyTo'], about: aboutWith(({ words }) => words.about.mail) },
      money: { fields: ['currency'], about: aboutWith(({ words }) => words.about.money) },
    },
    current: eventOf,
    about: async (page, given) => [await eventName(page, given)],
  },
  eventNotifyHolders: {
    concerns: sentTo,
    about: async (page, given) => {
      const event = await eventOf(page, given);
      const sent = page.format.number(await sentTo(page, given));
      const time = event?.startsAt ? page.format.span(event.startsAt, event.endsAt) : page.words.event.noTime;
      const place = event?.venue ?? page.words.event.noPlace;
      return [event?.name, `${time} · ${place}`, page.words.about.notifies(sent)];
    },
  },
  eventArchive: { about: aboutWith(({ words }) => words.about.archive) },
  eventRestore: { about: aboutWith(({ words }) => words.about.restore) },
  eventGrant: {
    subject: [],
    about: async (page, given) => {
      const partner = await partnerName(page, given['partnerId']);
      return [await eventName(page, given), partner, page.words.about.grant];
    },
    // The page of the sellers then proposes to reserve seats for this one.
    next: (_result, { eventId = '', partnerId = '', back }) =>
      pathOf(back) === sellersPath(eventId) ? address(sellersPath(eventId), { partnerId }) : pathOf(back),
  },
  eventRevoke: {
    isDangerous: true,
    about: async (page, given) => {
      const partner = await partnerName(page, given['partnerId']);
      const event = await eventName(page, given);
      return [partner ? page.words.about.revoke(partner, event) : event, page.words.about.revokeKeeps];
    },
  },
  eventMove: { about: aboutWith(({ words }) => words.about.move) },
} satisfies FormDefinitions;
