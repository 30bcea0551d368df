import { revokeKey, issueKey } from '@floodgate/partners';
import { type Database, type DuplicatePolicy } from '@floodgate/database';
import { type Reservation } from '@floodgate/registrations';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { ReservationModel } from '../harness/reservation-model.ts';

/** What one lane of the fuzzer aims at: an event of its own, so that it can tell what every answer has to be. */
export interface Target extends Fixture {
  duplicatePolicy: DuplicatePolicy;
  /** Tickets of every kind; the first has room for whatever is sent. */
  ticketIds: readonly number[];
  /** Keys that are well-formed and open nothing. */
  closedKeys: readonly string[];
  /** An event that is not granted. */
  foreignEventRef: string;
  /** What is registered, and what follows from it. */
  model: ReservationModel;
  /** Registrations whose connection was closed or reset before their answer: they may have been carried out or not. */
  unanswered: Reservation[];
  /** Holds that were made: the number of seats by reference. */
  holds: Map<string, number>;
}

const PLENTY = 10_000_000;
/** As the API has it by default. */
const HOLD_SHARE_PERCENT = 20;

/** Creates a partner with an event, and tickets of every kind in it. */
export async function createTarget(db: Database, duplicatePolicy: DuplicatePolicy): Promise<Target> {
  const fixture = await createFixture(db, duplicatePolicy);
  const foreign = await createFixture(db);
  const tickets = [
    { capacity: PLENTY, offerHours: 1 },
    { capacity: 3 },
    { capacity: PLENTY, active: false },
    { capacity: PLENTY, saleStartsAt: new Date(Date.now() + 86_400_000) },
  ];
  const ticketIds: number[] = [];
  for (const ticket of tickets) ticketIds.push(await fixture.addTicket(ticket));
  const { eventId } = fixture;
  const ofModel = tickets.map(({ capacity, active = true, saleStartsAt }, index) => ({
    id: ticketIds[index]!,
    eventId,
    capacity,
    taken: 0,
    onSale: active && saleStartsAt === undefined,
    allocations: new Map(),
  }));
  return {
    ...fixture,
    duplicatePolicy,
    ticketIds: [...ticketIds, await foreign.addTicket()],
    closedKeys: await createClosedKeys(db, fixture),
    foreignEventRef: foreign.eventRef,
    model: new ReservationModel(ofModel, HOLD_SHARE_PERCENT),
    unanswered: [],
    holds: new Map(),
  };
}

async function createClosedKeys(db: Database, { partnerId, secretKey }: Fixture): Promise<string[]> {
  const revoked = await issueKey(db, partnerId);
  await revokeKey(db, revoked.keyId);
  const lastIsA = secretKey.endsWith('A');
  return [revoked.secretKey, `${secretKey.slice(0, -1)}${lastIsA ? 'B' : 'A'}`];
}
