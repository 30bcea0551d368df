import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { eventName, partnerName, registrationOf } from './subjects.ts';

/** Resolves to the sentence that says whose seat it is, of which ticket and event, and who sold it. */
export async function aboutRegistration(page: PageRequest, given: Texts) {
  const registration = await registrationOf(page, given);
  if (!registration) return [];
  const { passReference, eventId, ticketTitle, partnerId, admitted } = registration;
  const person = await attendeeOf(page, given);
  const event = await eventName(page, { eventId: String(eventId) });
  const { about } = page.words;
  return [
    about.registration(person?.fullName ?? passReference, ticketTitle, event),
    person?.fullName ? `${person.emailAddress ?? ''} · ${passReference}` : undefined,
    partnerId ? about.soldBy(await partnerName(page, partnerId)) : undefined,
    admitted && about.wasAdmitted,
  ];
}

/** Resolves to the attendee of a registration. */
async function attendeeOf({ read, operations }: PageRequest, { passReference = '' }: Texts) {
  return passReference ? read(operations.attendeeShow, { passReference }) : undefined;
}

const aboutWith =
  (follows: (about: PageRequest['words']['about']) => string) => async (page: PageRequest, given: Texts) => [
    ...(await aboutRegistration(page, given)),
    follows(page.words.about),
  ];

/** Resolves to failed batches of what is given. */
const failedOf = ({ read, operations }: PageRequest, { eventId, reason }: Texts) =>
  read(operations.batchFailed, { eventId: eventId || undefined, reason: reason || undefined });

export const registrationForms = {
  registrationCancel: { isDangerous: true, about: aboutWith((about) => about.cancels) },
  registrationCorrect: { current: attendeeOf, about: aboutWith((about) => about.corrects) },
  registrationReplace: {
    isDangerous: true,
    about: aboutWith((about) => about.replaces),
    next: ({ passReference }) => `/people/${encodeURIComponent(passReference)}`,
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
