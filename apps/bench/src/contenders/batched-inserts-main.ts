// The process of batched inserts: receives a load from its parent, inserts its registration in batches on two
// connections, sends back the result and ends. The URL of the load is that of the database.
import { once } from 'node:events';
import type { Load, LoadResult } from '@floodgate/rehearsal/load/load';
import { createTally } from '@floodgate/rehearsal/load/tally';
import { Client } from 'pg';

const CONNECTIONS = 2;
/** About the size of Floodgate's commits with 128 connections. */
const BATCH_SIZE = 128;

// The ticket is counted last and needs the rows to be inserted first: it is locked for little more than the
// commit, and the other connection inserts meanwhile.
const INSERT_BATCH = `
  with registered as (
    insert into registrations (
      batch_id, position, ticket_id, event_id, partner_id, pass_code,
      full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
    )
    select gen_random_uuid(), position, $1::integer, $2::integer, $3::integer, pass_code,
      full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
    from unnest(
      $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[]
    ) with ordinality as input (
      pass_code, full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2, position
    )
    returning serial
  )
  update tickets set taken = taken + (select count(*) from registered) where id = $1::integer`;
const FIND_OWNER = `
  select tickets.event_id, event_grants.partner_id from tickets join event_grants using (event_id)
  where tickets.id = $1 limit 1`;

const ATTENDEE = [
  '5909379514',
  '"Jane Doe"',
  '"jane.doe@example.com"',
  '"+1 (555) 010-0199"',
  '"Female"',
  '"Table 4"',
  '"vegetarian"',
  '""',
];
// Built once: the client's work for its parameters is not part of the ceiling.
const columns = ATTENDEE.map((value) => `{${Array.from({ length: BATCH_SIZE }, () => value).join(',')}}`);

process.on('disconnect', () => process.exit());
const [load] = (await once(process, 'message')) as [Load];
const result = await insert(load);
process.send!(result, () => process.exit());

async function insert({ baseUrl, requests, seconds }: Load): Promise<LoadResult> {
  const { organizedEventTicketID: ticketId } = JSON.parse(requests[0]!.body!) as {
    organizedEventTicketID: number;
  };
  const clients = Array.from({ length: CONNECTIONS }, () => new Client({ connectionString: baseUrl }));
  await Promise.all(clients.map((client) => client.connect()));
  const { rows } = await clients[0]!.query<{ event_id: number; partner_id: number }>(FIND_OWNER, [ticketId]);
  const values = [ticketId, rows[0]!.event_id, rows[0]!.partner_id, ...columns];
  const tally = createTally();
  const endsAt = tally.startedAt + seconds * 1000;
  const insertInTurn = async (client: Client): Promise<void> => {
    while (performance.now() < endsAt) {
      const sentAt = performance.now();
      await client.query({ name: 'insert', text: INSERT_BATCH, values });
      for (let row = 0; row < BATCH_SIZE; row += 1) tally.add('200', sentAt);
    }
  };
  await Promise.all(clients.map(insertInTurn));
  const measured = tally.result(seconds);
  await Promise.all(clients.map((client) => client.end()));
  return measured;
}
