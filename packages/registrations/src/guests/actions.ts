import { defineAction, Flag, Id } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { normalizePerson, RegistrationRequest } from '@floodgate/contract';
import { Failure } from '@floodgate/service/failure';
import { Type, type TSchema } from '@sinclair/typebox';
import { brokenRules, identityOf, type Guest } from './guest.ts';
import { GUEST_LIST_BYTES } from './decode-guest-list.ts';
import { GUEST_LIST_ROWS } from './read-rows.ts';
import { registerGuests } from './register-guests.ts';

/** A text with the rule of a partner's request, which `brokenRules` checks. */
const textOf = (name: keyof typeof RegistrationRequest.properties) => {
  const schema: TSchema = RegistrationRequest.properties[name];
  return Type.String({ description: schema.description ?? '' });
};

/** Registers one guest, through the house partner. */
export const addGuestAction = defineAction({
  name: 'guest.add',
  input: Type.Object({
    eventId: Id,
    ticketId: Id,
    fullName: typedAs('<name>', textOf('fullName')),
    emailAddress: typedAs('<address>', textOf('emailAddress')),
    phoneNumber: typedAs('--phone', Type.Optional(textOf('phoneNumber'))),
    reference: Type.Optional(textOf('partnerReference')),
  }),
  prepare: normalizePerson,
  check: ({ eventId: _event, ticketId: _ticket, reference, ...texts }): Record<string, string> => {
    const { partnerReference: rule, ...others } = brokenRules({
      ...texts,
      ...(reference !== undefined && { partnerReference: reference }),
    });
    return { ...others, ...(rule !== undefined && { reference: rule }) };
  },
  run: async (transaction, { eventId, ticketId, reference, ...person }, note) => {
    const request = { ...person, organizedEventTicketID: ticketId };
    const guest = { ...request, partnerReference: reference ?? identityOf(request) };
    const [outcome] = await registerGuests(transaction, eventId, [guest], { again: true });
    if (outcome!.kind === 'refused') throw new Failure(outcome!.reason);
    // The audit log contains no attendee data.
    if (outcome!.kind === 'registered')
      note(`registration:${outcome!.serial}`, { after: { ticketId, guest: true } });
    return { passReference: outcome!.passReference, isNew: outcome!.kind === 'registered' };
  },
});

/** A guest list. `csv` is its text. */
export const GuestImport = Type.Object({
  eventId: Id,
  csv: typedAs(
    '<file>',
    Type.String({
      description:
        'a guest list as CSV: a first row that names the columns, then a row per guest, at most ' +
        `${GUEST_LIST_ROWS} rows and ${GUEST_LIST_BYTES} bytes`,
      contentMediaType: 'text/csv',
    }),
  ),
  ticketId: typedAs('--ticket', Type.Optional(Id)),
  dryRun: Type.Optional(Flag),
  map: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 20,
      description: 'columns of another name and their field, such as Vorname+Nachname=fullName',
    }),
  ),
});

/** The guests of one commit of an import. They were checked, so the schema neither checks nor cleans them. */
const Guests = Type.Unsafe<Guest[]>(Type.Unknown({ description: 'guests' }));

/** Registers guests of a list in one transaction. */
export const importGuestsAction = defineAction({
  name: 'guest.import',
  input: Type.Object({ eventId: Id, guests: Guests }),
  run: async (transaction, { eventId, guests }, note) => {
    const outcomes = await registerGuests(transaction, eventId, guests);
    const registered = outcomes.filter(({ kind }) => kind === 'registered').length;
    if (registered > 0) note(`event:${eventId}`, { after: { guestsRegistered: registered } });
    return outcomes;
  },
});
