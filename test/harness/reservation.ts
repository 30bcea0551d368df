import type { Reservation } from '@floodgate/registrations';
import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { Fixture } from './fixture.ts';

/** Returns a valid reservation, as the API builds it, with the given changes. */
export function reservationOf(
  { shardId, partnerId, eventId }: Pick<Fixture, 'shardId' | 'partnerId' | 'eventId'>,
  ticketId: number,
  differing: Partial<Reservation> = {},
): Reservation {
  return {
    shardId,
    partnerId,
    eventId,
    ticketId,
    passCode: 4_829_137_450,
    fullName: 'Jane Doe',
    emailAddress: 'jane.doe@example.com',
    phoneNumber: null,
    gender: null,
    tableOrSeat: null,
    extraData1: null,
    extraData2: null,
    attendeeDigest: null,
    returnsExisting: false,
    holdSeconds: null,
    holdId: null,
    partnerReference: null,
    idempotency: null,
    ...differing,
  };
}

/** Ends the time of an event's holds. */
export const endHolds = (db: Database, { shardId, eventId }: Pick<Fixture, 'shardId' | 'eventId'>) =>
  sql`
    update registrations set held_until = now()
    where shard_id = ${shardId} and event_id = ${eventId} and held_until < 'infinity'`.execute(db);
