import { HOUSE_PARTNER_ID } from '@floodgate/database';
import type { PageRequest } from '../add-page.ts';
import { mailedText } from '../pages/job-preview.ts';
import { personPath } from '../pages/names.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { eventName, eventOf, registrationOf } from './subjects.ts';

/** Resolves to the attendee of a registration. */
async function attendeeOf({ read, operations }: PageRequest, { passReference = '' }: Texts) {
  return passReference ? read(operations.attendeeShow, { passReference }) : undefined;
}

/** Resolves to a registration with its person and its event. A role may see the seat, and not who has it. */
async function seatOf(page: PageRequest, given: Texts) {
  const registration = await registrationOf(page, given);
  if (!registration) return undefined;
  const attendee = await attendeeOf(page, given);
  const event = await eventOf(page, { eventId: String(registration.eventId) });
  const { fullName: name, emailAddress: address } = attendee ?? {};
  const who = name ?? registration.passReference;
  return { registration, event, eventName: event?.name ?? '', name, address, who };
}

type Seat = NonNullable<Awaited<ReturnType<typeof seatOf>>>;
type Sentences = (string | false | undefined)[];

/** Returns the line that tells two people of one name apart. */
const identity = ({ name, address, registration }: Seat) =>
  name ? [address, registration.passReference].filter(Boolean).join(' · ') : undefined;

/** Returns what says whose seat it is, of which ticket and event, who sold it, and what follows. */
export const aboutSeat =
  (follows: (page: PageRequest, seat: Seat, given: Texts) => Sentences) =>
  async (page: PageRequest, given: Texts): Promise<Sentences> => {
    const seat = await seatOf(page, given);
    if (!seat) return [];
    const { about } = page.words;
    const { ticketTitle, partner, admitted } = seat.registration;
    return [
      about.registration(seat.who, ticketTitle, seat.eventName),
      identity(seat),
      about.soldBy(partner),
      admitted && about.wasAdmitted,
      ...follows(page, seat, given),
    ];
  };

/** Resolves to what says whose registration is cancelled, and what follows for the person and the partner. */
async function aboutCancel(page: PageRequest, given: Texts): Promise<Sentences> {
  const seat = await seatOf(page, given);
  if (!seat) return [];
  const { about, jobs } = page.words;
  const { ticketTitle, partnerId, partner, price, admitted } = seat.registration;
  const isPaid = Boolean(price) && partnerId !== HOUSE_PARTNER_ID;
  return [
    about.cancelled(seat.who, ticketTitle, seat.eventName),
    identity(seat),
    about.cancels,
    isPaid ? about.cancelsPaid(partner) : about.cancelsFree(partner),
    mailedText(jobs, seat.event),
    admitted && about.cancelsAdmitted,
  ];
}

/** Resolves to failed batches of what is given. */
const failedOf = ({ read, operations }: PageRequest, { eventId, reason }: Texts) =>
  read(operations.batchFailed, { eventId: eventId || undefined, reason: reason || undefined });

export const registrationForms = {
  registrationCancel: { isDangerous: true, about: aboutCancel },
  registrationCorrect: { current: attendeeOf, about: aboutSeat(({ words }) => [words.about.corrects]) },
  registrationReplace: {
    isDangerous: true,
    about: aboutSeat(({ words }, { who }) => [words.about.replaces(who)]),
    next: ({ passReference }) => personPath(passReference),
  },
  guestAdd: { about: async (page, given) => [await eventName(page, given), page.words.about.guestAdd] },
  guestImport: {
    fields: ['csv', 'ticketId', 'map', 'dryRun'],
    about: async (page, given) => [await eventName(page, given), page.words.about.guestImport],
  },
  batchRedrive: {
    about: async (page, given) => {
      const failed = (await failedOf(page, given))?.failed ?? [];
      const registrations = failed.reduce((sum, batch) => sum + batch.registrations, 0);
      const { format, words } = page;
      return [words.about.redrives(format.number(failed.length), format.number(registrations))];
    },
  },
} satisfies FormDefinitions;
