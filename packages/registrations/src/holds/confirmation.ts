import { RESPONSE_CODES, type Attendee, type FailureCode, type HoldConfirmation } from '@floodgate/contract';
import type { InvalidField, Principal } from '@floodgate/http';
import type { Static } from '@sinclair/typebox';
import { NO_HOLD, provokedCode, refusalOf, whyHoldTooLate } from '../answers.ts';
import { digestFor } from '../register/reservation.ts';
import type { ChangedSeat, HoldOutcome } from './change-holds.ts';
import type { Duplicates } from './duplicates.ts';
import type { FoundHold, HeldSeat } from './find-holds.ts';

/** The attendees who get the seats of a hold. */
export interface NamedAttendees {
  /** One for each seat, or the contact. */
  attendees: readonly Attendee[];
  /** One contact for all seats. */
  isContact: boolean;
}

export const EITHER = {
  message: 'Send either attendees or contact',
  invalidFields: [{ field: 'attendees', rule: 'oneOf' }],
};

/** Returns who is named, or undefined unless there are either attendees or a contact. */
export function namedIn({ attendees, contact }: Static<typeof HoldConfirmation>): NamedAttendees | undefined {
  if (attendees && !contact) return { attendees, isContact: false };
  return contact && !attendees ? { attendees: [contact], isContact: true } : undefined;
}

/** Returns the first code that an attendee of a test event requests, if it is one of `codes`. */
export const provokedByAny = (
  principal: Principal,
  attendees: readonly Attendee[],
  codes: readonly FailureCode[],
) => attendees.map((attendee) => provokedCode(principal, attendee, codes)).find((code) => code !== undefined);

/** The code and the specifics of an answer. */
export type Refusal = [
  code: FailureCode,
  specifics: { message?: string; invalidFields?: readonly InvalidField[] },
];

/** Returns why a hold cannot be confirmed with this number of attendees, or undefined. */
export function refusalOfNumber(
  hold: FoundHold,
  open: readonly HeldSeat[],
  named: NamedAttendees,
): Refusal | undefined {
  if (open.length === 0) return ['35', { message: whyHoldTooLate(hold) }];
  if (named.isContact || named.attendees.length === open.length) return undefined;
  return refusalOfRule(hold, open, 'attendees', `${open.length}, one for each held seat`);
}

/** Returns the answer to a field that breaks a rule. It may do so because the hold is confirmed already. */
export function refusalOfRule(
  hold: FoundHold,
  open: readonly HeldSeat[],
  field: string,
  rule: string,
): Refusal {
  if (open[0]?.state !== 'held') return ['35', { message: whyHoldTooLate(hold) }];
  return ['11', { message: `${field}: ${rule}`, invalidFields: [{ field, rule: 'items' }] }];
}

export function withAttendee(
  principal: Principal,
  { serial, ticketId }: HeldSeat,
  { attendees, isContact }: NamedAttendees,
  index: number,
): ChangedSeat {
  const attendee = attendees[isContact ? 0 : index]!;
  return { serial, attendee, attendeeDigest: digestFor(principal, ticketId, attendee) };
}

/** Returns why a hold was not changed, or undefined if it was. `findDuplicates` names the attendees of a duplicate. */
export async function refusalOfChange(
  principal: Principal,
  { kind, hold }: HoldOutcome,
  findDuplicates: () => Promise<Duplicates | undefined> = () => Promise.resolve(undefined),
): Promise<Refusal | undefined> {
  if (kind === null) return refusalOf(principal, 'missing', { message: NO_HOLD });
  if (kind === 'too-late') return refusalOf(principal, kind, { message: whyHoldTooLate(hold) });
  if (kind !== 'duplicate') return undefined;
  // The refusal does not depend on the names.
  const duplicates = await findDuplicates().catch(() => undefined);
  const [code, specifics] = refusalOf(principal, kind);
  return [code, { ...specifics, ...duplicates }];
}

/** Returns the refusal of an item of a list, with the place of the item in its message and fields. */
export function refusalAt(
  list: string,
  index: number,
  [code, { message = RESPONSE_CODES[code].message, invalidFields = [] }]: Refusal,
): Refusal {
  const fields = invalidFields.map(({ field, rule }) => ({ field: `${list}/${index}/${field}`, rule }));
  return [code, { message: `${list}[${index}]: ${message}`, invalidFields: fields }];
}
