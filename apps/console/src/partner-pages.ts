import { PARTNER_COLUMNS } from '@floodgate/partners/console';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext } from './operations.ts';
import { Refusal } from './principals.ts';
import { actions, cellsOf, fields, inputField, link, table, together } from './view.ts';

/** Adds the pages of partners, and of one registration. */
export function addPartnerPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/registrations', ['registrations:read'], showRegistration);
  const add = adder(app, context, false);
  add('/partners', ['partners:read'], showPartners);
  add('/partners/:partnerId', ['partners:read'], showPartner);
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

const showPartners: Show = async ({ operations, read, action }) => [
  'Partners',
  actions(action(operations.partnerCreate, {})),
  table('Partners', await read(operations.partnerList, {}), (partner) => ({
    id: partner.id,
    partner: link(`/partners/${partner.id}`, partner.name),
    ...cellsOf(partner, ...PARTNER_COLUMNS),
  })),
];

const showPartner: Show = async ({ operations, params: { partnerId }, read, action }) => {
  const partners = await read(operations.partnerList, {});
  const partner = partners?.find(({ id }) => String(id) === partnerId);
  if (!partner) throw new Refusal(404, 'No such partner');
  return [
    `Partner ${partnerId}: ${partner.name}`,
    fields(cellsOf(partner, 'id', 'name', ...PARTNER_COLUMNS)),
    actions(
      action(operations.partnerContact, { partnerId }),
      action(operations.partnerLimit, { partnerId }),
      action(operations.partnerWeigh, { partnerId }),
      action(operations.partnerDisable, { partnerId }),
    ),
    table('Keys', await read(operations.keyList, { partnerId }), (key) => ({
      ...cellsOf(key, 'keyId', 'mode', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt', 'state'),
      actions: together(
        action(operations.keyRotate, { keyId: key.keyId, overlapMs: 86_400_000 }, 'Rotate'),
        action(operations.keyRevoke, { keyId: key.keyId }, 'Revoke'),
      ),
    })),
    actions(action(operations.keyIssue, { partnerId })),
  ];
};
