import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** An admission of a registration. `again`: another admission in the same area was before it. */
export interface Admission {
  gate: string;
  device: string;
  state: 'admitted' | 'again' | 'undone';
  at: Date;
  leftAt: Date | null;
}

/** Returns the admissions of a registration, oldest first. */
export async function listAdmissions(db: Database, shardId: number, registration: number) {
  const { rows } = await sql<Admission>`
    select g.name as gate, d.name as device, a.at, a.left_at as "leftAt",
      case when a.undone_at is not null then 'undone' when a.again_of is not null then 'again' else 'admitted' end as state
    from admissions a
    join gates g on g.shard_id = a.shard_id and g.id = a.gate_id
    join devices d on d.shard_id = a.shard_id and d.id = a.device_id
    where a.shard_id = ${shardId} and a.registration = ${registration}
    order by a.at, a.serial`.execute(db);
  return rows;
}
