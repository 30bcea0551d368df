// The process of measureBatchedInserts: inserts batches on two connections and prints its result as JSON.
import { Client } from 'pg';

const CONNECTIONS = 2;
const [settings = '{}'] = process.argv.slice(2);
const { databaseUrl, seconds, batchSize, ...ids } = JSON.parse(settings) as {
  databaseUrl: string;
  seconds: number;
  batchSize: number;
  ticketId: number;
  eventId: number;
  partnerId: number;
};

// The ticket is counted last and needs the rows to be inserted first: it is locked for little more than the commit, and
// the other connection inserts meanwhile.
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
const columns = ATTENDEE.map((value) => `{${Array.from({ length: batchSize }, () => value).join(',')}}`);
const values = [ids.ticketId, ids.eventId, ids.partnerId, ...columns];

const clients = Array.from({ length: CONNECTIONS }, () => new Client({ connectionString: databaseUrl }));
await Promise.all(clients.map((client) => client.connect()));
const startedAt = performance.now();
const endsAt = startedAt + seconds * 1000;
const batches = await Promise.all(clients.map(insertUntilEnd));
const elapsedSeconds = (performance.now() - startedAt) / 1000;
await Promise.all(clients.map((client) => client.end()));
const latenciesMs = batches.flat().toSorted((a, b) => a - b);
const quantile = (q: number) => latenciesMs[Math.floor(q * (latenciesMs.length - 1))];
const { user, system } = process.cpuUsage();
const measured = {
  rows: latenciesMs.length * batchSize,
  seconds: elapsedSeconds,
  latencyMs: { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), max: latenciesMs.at(-1) },
  cpuMicros: user + system,
};
process.stdout.write(`${JSON.stringify(measured)}\n`);

/** Returns the duration of each batch. */
async function insertUntilEnd(client: Client): Promise<number[]> {
  const tookMs: number[] = [];
  while (performance.now() < endsAt) {
    const sentAt = performance.now();
    await client.query({ name: 'insert', text: INSERT_BATCH, values });
    tookMs.push(performance.now() - sentAt);
  }
  return tookMs;
}
