import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { personPath } from '../pages/names.ts';
import { address, card, rows, type Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';

const paragraph = (text: string) => html`<p class="sub">${text}</p>`;

/** Resolves to the attendee of a form. Undefined: there is none, or the operator may not see attendees. */
const attendeeOf = ({ read, operations }: PageRequest, { passReference = '' }: Texts) =>
  read(operations.attendeeShow, { passReference });

/** Returns whom a form is about. */
async function nameOf(page: PageRequest, given: Texts) {
  const attendee = await attendeeOf(page, given);
  return attendee?.fullName ?? given['passReference'] ?? '';
}

/** Returns whether the attendee gets an e-mail if an operator cancels a registration of an event. */
export function mailedText(
  words: { mailed: string; notMailed: string; notMailedTest: string },
  event: { mode: string; mailOperatorCancels: boolean } | undefined,
) {
  if (!event) return '';
  if (event.mode === 'test') return words.notMailedTest;
  return event.mailOperatorCancels ? words.mailed : words.notMailed;
}

/** Says who loses the seat, and what follows. */
async function aboutCancel(page: PageRequest, given: Texts) {
  const { read, operations, words } = page;
  const { passReference = '' } = given;
  const { forms } = words.people;
  const registration = (await read(operations.registrationShow, { passReference }))!;
  const { eventId, ticketTitle, partner, admitted } = registration;
  const event = await read(operations.eventShow, { eventId });
  const consequences = rows(
    forms.cancel(await nameOf(page, given), ticketTitle, event?.name ?? String(eventId)),
    forms.cancelPass,
    forms.cancelPartner(partner),
    ...[mailedText(forms, event), admitted ? forms.cancelAdmitted : ''].filter(Boolean),
  );
  return card('', consequences);
}

/** Says who gets which e-mail. */
async function aboutResend(page: PageRequest, given: Texts) {
  const { people, messages } = page.words;
  const kinds: Partial<Record<string, string>> = messages.kinds;
  const kind = given['kind'] ?? 'confirmation';
  if (kind !== 'confirmation') return paragraph(people.forms.resendOther(kinds[kind] ?? kind));
  const attendee = await attendeeOf(page, given);
  if (!attendee?.fullName || !attendee.emailAddress) return paragraph(people.forms.resendNobody);
  return paragraph(people.forms.resend(attendee.fullName, attendee.emailAddress));
}

export const peopleForms = {
  mailResend: { about: aboutResend },
  registrationCorrect: {
    current: async (page, given) => {
      const { fullName = null, emailAddress = null } = (await attendeeOf(page, given)) ?? {};
      return { fullName, emailAddress };
    },
    about: async ({ words }) => Promise.resolve(paragraph(words.people.forms.correct)),
  },
  registrationReplace: {
    about: async (page, given) => paragraph(page.words.people.forms.replace(await nameOf(page, given))),
    next: ({ passReference }: { passReference: string }) => personPath(passReference),
  },
  registrationCancel: { about: aboutCancel, isDangerous: true },
  guestAdd: {
    about: async ({ words }) => Promise.resolve(paragraph(words.people.forms.guest)),
    next: ({ passReference, isNew }: { passReference: string; isNew: boolean }) =>
      address(personPath(passReference), { known: isNew ? undefined : 'true' }),
    isShownByNext: true,
  },
  guestImport: { about: async ({ words }) => Promise.resolve(paragraph(words.people.forms.guests)) },
} satisfies FormDefinitions;
