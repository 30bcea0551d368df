import type { Hold, WaitingEntry } from '@floodgate/contract';
import { serveWaitingLists } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import { createTestDatabase } from '../harness/database.ts';
import { addGate, enrolledDevice } from '../harness/door-device.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';

/**
 * A service as the guide's examples expect it, with a test event: ticket 1 has seats, ticket 2 has none,
 * ticket 3 has a waiting list with an entry, and ticket 4 one with an offer, somebody is registered and was
 * admitted, and a basket is held.
 */
export async function startExample() {
  const database = await createTestDatabase();
  const api = await startInProcessApi({ DATABASE_URL: database.url });
  const gala = await createFixture(database.db, 'allow', 'test');
  const standard = await gala.addTicket({ title: 'Standard' });
  await gala.addTicket({ title: 'Balcony', capacity: 0 });
  const partner = new PartnerClient(api.baseUrl, gala);
  const { body } = await partner.register(attendee(standard));
  const gate = await addGate(database.db, gala.eventId);
  const scanner = await enrolledDevice(database.db, api.baseUrl, gala.eventId, [gate], 'Scanner 1');
  await scanner.scan(body.responseData as string, gate);
  const basket = { tickets: [{ organizedEventTicketID: standard, seats: 2 }] };
  const hold = (await partner.post('/holds', basket)).body.responseData as Hold;
  const contact = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
  /** Returns a ticket that is sold out, and an entry of its waiting list. */
  async function addWaitedFor(title: string) {
    const organizedEventTicketID = await gala.addTicket({ title, capacity: 20, offerHours: 24 });
    await sql`update tickets set taken = 20 where id = ${organizedEventTicketID}`.execute(database.db);
    const answer = await partner.post('/waiting-list', { organizedEventTicketID, contact });
    return answer.body.responseData as WaitingEntry;
  }
  const [waiting, offered] = [await addWaitedFor('Dinner'), await addWaitedFor('Gallery')];
  await sql`update tickets set capacity = 21 where id = ${offered.organizedEventTicketID}`.execute(
    database.db,
  );
  await serveWaitingLists(database.db, gala.shardId, 1);
  const finalize = () => finalizePending(database.db, gala.shardId);
  await finalize();
  const variables = {
    BASE: api.baseUrl,
    SECRET_KEY: gala.secretKey,
    EVENT_REF: gala.eventRef,
    EVENT_ID: String(gala.eventId),
    PARTNER_ID: String(gala.partnerId),
    PASS_REFERENCE: body.responseData as string,
    HOLD_REFERENCE: hold.holdReference,
    HELD_PASS_REFERENCE: hold.seats[0]!.passReference,
    SOLD_OUT_TICKET_ID: String(waiting.organizedEventTicketID),
    OFFERED_ENTRY: offered.entry,
    ENTRY: waiting.entry,
  };
  /** Registers a further attendee, who was not admitted. Resolves to the pass reference. */
  const register = async () => (await partner.register(attendee(standard))).body.responseData as string;
  const close = async () => {
    await api.close();
    await database.drop();
  };
  return { variables, finalize, register, close };
}
