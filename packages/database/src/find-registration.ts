import { sql } from 'kysely';
import type { Database } from './connect.ts';

/** A registration's way so far. */
export interface RegistrationRow {
  serial: number;
  passCode: number;
  passPrefix: string;
  eventId: number;
  ticketId: number;
  ticketTitle: string;
  state: 'reserved' | 'confirmed' | 'cancelled' | 'failed';
  reservedAt: Date;
  /** When its batch was confirmed or given up. */
  finishedAt: Date | null;
  cancelledAt: Date | null;
}

/** Finds a registration by its serial, if this partner made it under this event. */
export async function findRegistration(
  db: Database,
  key: { serial: number; partnerId: number; eventId: number },
): Promise<RegistrationRow | undefined> {
  const { rows } = await sql<RegistrationRow>`
    select r.serial, r.pass_code as "passCode", e.pass_prefix as "passPrefix", r.event_id as "eventId",
      r.ticket_id as "ticketId", t.title as "ticketTitle", r.reserved_at as "reservedAt",
      b.finished_at as "finishedAt", r.cancelled_at as "cancelledAt",
      case
        when r.cancelled_at is not null then 'cancelled'
        when b.state = 'pending' then 'reserved'
        else b.state::text
      end as state
    from registrations r
    join events e on e.id = r.event_id
    join tickets t on t.id = r.ticket_id
    join batches b on b.id = r.batch_id
    where r.serial = ${key.serial} and r.partner_id = ${key.partnerId} and r.event_id = ${key.eventId}`.execute(
    db,
  );
  return rows[0];
}
