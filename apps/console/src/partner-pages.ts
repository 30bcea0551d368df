import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext } from './operations.ts';
import { actions, cellsOf, fields, inputField } from './view.ts';

/** Adds the page of one registration. */
export function addRegistrationPage(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/registrations', ['registrations:read'], showRegistration);
}

const searchForm = (text: string) =>
  html`<form class="fields" role="search" method="get" action="/registrations">
    !${inputField('passReference', html`value="${text}" autocomplete="off" required`)}
    <p><button>Find</button></p>
  </form>`;

const OF_REGISTRATION = [
  'passReference',
  'state',
  'organizedEventID',
  'organizedEventTicketID',
  'ticketTitle',
  'dateReserved',
  'dateFinalized',
  'dateCancelled',
  'partnerReference',
  'partnerId',
  'eventId',
  'admitted',
] as const;

const OF_ATTENDEE = [
  'fullName',
  'emailAddress',
  'phoneNumber',
  'gender',
  'tableOrSeat',
  'extraData1',
  'extraData2',
] as const;

const showRegistration: Show = async ({ operations, query: { passReference = '' }, read, action }) => {
  const search = ['Registrations', searchForm(passReference)] as const;
  if (passReference === '') return [...search, actions(action(operations.passVerify, {}))];
  const found = (await read(operations.registrationShow, { passReference }))!;
  const attendee = await read(operations.attendeeShow, { passReference });
  return [
    ...search,
    fields(cellsOf(found, ...OF_REGISTRATION)),
    attendee ? `<h2>Attendee</h2>${fields(cellsOf(attendee, ...OF_ATTENDEE))}` : '',
    actions(
      action(operations.mailResend, { passReference }),
      action(operations.registrationCorrect, { passReference }),
      action(operations.registrationReplace, { passReference }),
      action(operations.registrationCancel, { passReference }),
    ),
  ];
};
