import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** A place where the books do not balance, in words for an operator. */
export interface Difference {
  subject: string;
  problem: string;
}

/** A batch that has been pending for longer was forgotten: the relay enqueues what has waited far less. */
const FORGOTTEN_AFTER_MINUTES = 15;

/**
 * Proves that every ticket's `taken` equals the seats that registrations hold, that every registration
 * belongs to a batch, that every batch has as many registrations as it says, and that no batch was forgotten.
 * Reads one snapshot, so it is exact under load. Answers what is wrong; nothing is changed.
 */
export async function reconcile(db: Database): Promise<Difference[]> {
  const { rows } = await sql<Difference>`
    with held as (
      select ticket_id, count(*) as seats from registrations where cancelled_at is null group by ticket_id
    ),
    batch_size as (
      select batch_id, count(*) as size from registrations group by batch_id
    )
    select 'ticket ' || coalesce(t.id, held.ticket_id) as subject,
      case when t.id is null then 'holds ' || held.seats || ' seats, but there is no such ticket'
      else 'taken is ' || t.taken || ', but registrations hold ' || coalesce(held.seats, 0) || ' seats' end as problem
    from tickets t full join held on held.ticket_id = t.id
    where t.taken is distinct from coalesce(held.seats, 0)
    union all
    select 'batch ' || coalesce(b.id, s.batch_id),
      case when b.id is null then 'has ' || s.size || ' registrations, but there is no such batch'
      else 'should have ' || b.size || ' registrations, but has ' || coalesce(s.size, 0) end
    from batches b full join batch_size s on s.batch_id = b.id
    where coalesce(b.size, -1) <> coalesce(s.size, 0)
    union all
    select 'batch ' || id, 'has been pending since ' || pending_since || ' (' || size || ' registrations)'
    from batches
    where state = 'pending' and pending_since < now() - make_interval(mins => ${FORGOTTEN_AFTER_MINUTES})
    order by 1`.execute(db);
  return rows;
}
