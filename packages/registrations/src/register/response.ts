import {
  COMMON_FAILURES,
  failure,
  formatPassReference,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { PartnerPrincipal } from '@floodgate/http';
import type { SeatOutcome } from './outcome.ts';

/** Every failure that Register For Event can answer. */
export const REGISTER_FAILURES: readonly FailureCode[] = [
  ...COMMON_FAILURES,
  '11',
  '30',
  '31',
  '32',
  '33',
  '37',
  '40',
  '41',
  '91',
];

const OF_TICKET = 'This e-mail address is already registered for the ticket';

/** Returns the envelope that answers a registration. */
export function responseOf(principal: PartnerPrincipal, outcome: SeatOutcome) {
  const { passPrefix: prefix, eventId, duplicateScope } = principal;
  if (outcome.kind === 'duplicate' && duplicateScope === 'ticket') return failure('33', OF_TICKET);
  if (outcome.kind !== 'registered' && outcome.kind !== 'existing') return failure(CODES[outcome.kind]);
  const { serial, passCode } = outcome;
  return success(formatPassReference({ prefix, eventId, serial, passCode }));
}

/** The response code of each outcome without a seat. */
export const CODES = {
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
} as const satisfies Record<Exclude<SeatOutcome['kind'], 'registered' | 'existing'>, FailureCode>;
