import { failure, formatPassReference, success, type FailureCode } from '@floodgate/contract';
import type { PartnerPrincipal } from '@floodgate/http';
import type { SeatOutcome } from './outcome.ts';

/** Returns the envelope that answers a registration. */
export function answerTo({ passPrefix: prefix, eventId }: PartnerPrincipal, outcome: SeatOutcome) {
  if (outcome.kind !== 'registered') return failure(REFUSAL_CODES[outcome.kind]);
  const { serial, passCode } = outcome;
  return success(formatPassReference({ prefix, eventId, serial, passCode }));
}

export const REFUSAL_CODES = {
  'no-such-ticket': '30',
  'not-on-sale': '31',
  'sold-out': '32',
  duplicate: '33',
  'group-refused': '36',
  'key-reused': '40',
  'in-progress': '41',
  overloaded: '90',
  unknown: '91',
  failed: '99',
} as const satisfies Record<Exclude<SeatOutcome['kind'], 'registered'>, FailureCode>;
