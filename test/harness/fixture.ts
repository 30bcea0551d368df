import { createEvent, grantEvent } from '@floodgate/events';
import { createPartner, issueKey } from '@floodgate/partners';
import { createTicket, type TicketSettings } from '@floodgate/tickets';
import type { Database, DuplicatePolicy, Mode } from '@floodgate/database';
import { randomBytes } from 'node:crypto';

/** A partner with its own event. */
export interface Fixture {
  partnerId: number;
  keyId: string;
  secretKey: string;
  eventId: number;
  shardId: number;
  eventRef: string;
  passPrefix: string;
  addTicket(settings?: Partial<TicketSettings>): Promise<number>;
}

/** Creates a partner, a key and a granted event of the same mode. */
export async function createFixture(
  db: Database,
  duplicatePolicy: DuplicatePolicy = 'allow',
  mode: Mode = 'live',
): Promise<Fixture> {
  const partner = await createPartner(db, `partner ${randomBytes(6).toString('hex')}`);
  const event = await createEvent(db, { name: 'Gala', passPrefix: 'GALA', duplicatePolicy, mode });
  await grantEvent(db, partner.id, event.id);
  const key = await issueKey(db, partner.id, null, mode);
  return {
    partnerId: partner.id,
    keyId: key.keyId,
    secretKey: key.secretKey,
    eventId: event.id,
    shardId: event.shardId,
    eventRef: event.ref,
    passPrefix: event.passPrefix,
    addTicket: async (settings = {}) => {
      const ticket = await createTicket(
        db,
        event.id,
        { title: 'Standing', capacity: 1_000, ...settings },
        'test',
      );
      return ticket.id;
    },
  };
}
