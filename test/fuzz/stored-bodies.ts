import type { Database } from '@floodgate/database';
import { tablesOf } from '../harness/stored-tables.ts';

/** What is stored of an event's registrations, in the fields that partners send, by serial. Without the seats of holds. */
export async function storedBodies(
  db: Database,
  eventId: number,
): Promise<{ serial: number; body: Record<string, unknown> }[]> {
  const rows = await tablesOf(db)
    .selectFrom('registrations')
    .selectAll()
    .where('event_id', '=', eventId)
    .where('hold_id', 'is', null)
    .orderBy('serial')
    .execute();
  return rows.map((row) => ({
    serial: row.serial,
    body: {
      fullName: row.full_name,
      emailAddress: row.email_address,
      phoneNumber: row.phone_number,
      gender: row.gender,
      tableOrSeat: row.table_or_seat,
      organizedEventTicketID: row.ticket_id,
      extraData1: row.extra_data_1,
      extraData2: row.extra_data_2,
      partnerReference: row.partner_reference,
    },
  }));
}
