import { shardLoader, type Database, type ShardReads } from '@floodgate/database';
import type { PartnerPrincipal } from '@floodgate/http';
import {
  findRegistrations,
  type RegistrationQuery,
  type RegistrationRow,
} from '../status/find-registrations.ts';

/** Says why a change was too late. Undefined if the registration cannot be read: the refusal itself stands. */
export type WhyTooLate = (
  change: 'cancel' | 'confirm',
  principal: PartnerPrincipal,
  serial: number,
) => Promise<string | undefined>;

/** Returns what reads a registration that was refused, and says which state it is in. */
export function createWhyTooLate(reads: Database, shardReads: ShardReads): WhyTooLate {
  const findRegistration = shardLoader(shardReads, (queries: RegistrationQuery[]) =>
    findRegistrations(reads, queries),
  );
  return async (change, { shardId, partnerId, eventId }, serial) => {
    const row = await findRegistration({ shardId, serial, partnerId, eventId }).catch(() => undefined);
    return row && sentence(change, row);
  };
}

function sentence(change: 'cancel' | 'confirm', { state, isExpired }: RegistrationRow): string {
  if (change === 'cancel') return `The registration is ${state}, and the cancellation deadline has passed`;
  if (isExpired) return 'The hold has expired, and the registration is cancelled';
  return `The registration is ${state}`;
}
