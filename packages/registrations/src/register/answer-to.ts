import { failure, formatPassReference, success, type FailureCode } from '@floodgate/contract';
import type { PartnerPrincipal } from '@floodgate/http';
import type { SeatOutcome } from './outcome.ts';

const OF_TICKET = 'This e-mail address is already registered for the ticket';

/** Returns the envelope that answers a registration. */
export function answerTo(principal: PartnerPrincipal, outcome: SeatOutcome) {
  const { passPrefix: prefix, eventId, duplicateScope } = principal;
  if (outcome.kind === 'duplicate' && duplicateScope === 'ticket') return failure('33', OF_TICKET);
  if (outcome.kind !== 'registered' && outcome.kind !== 'existing') return failure(codeOf(outcome));
  const { serial, passCode } = outcome;
  return success(formatPassReference({ prefix, eventId, serial, passCode }));
}

/** What became of what was not registered. */
export type Refused = Exclude<SeatOutcome, { kind: 'registered' | 'existing' }>;

/** Returns the response code of a refusal. */
export const codeOf = (outcome: Refused): FailureCode =>
  outcome.kind === 'provoked' ? outcome.code : REFUSAL_CODES[outcome.kind];

const REFUSAL_CODES = {
  'no-such-ticket': '30',
  'not-on-sale': '31',
  'sold-out': '32',
  duplicate: '33',
  'group-refused': '36',
  'hold-limit': '37',
  'key-reused': '40',
  'in-progress': '41',
  overloaded: '90',
  unknown: '91',
  failed: '99',
} as const satisfies Record<Exclude<Refused['kind'], 'provoked'>, FailureCode>;
