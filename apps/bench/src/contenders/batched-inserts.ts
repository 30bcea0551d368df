import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { Load, LoadResult } from '@floodgate/rehearsal/load/load';
import type { Contender } from './contender.ts';

export interface BatchedInserts {
  /** A separate, migrated database: the rows belong to no batch, which `reconcile` would report. */
  databaseUrl: string;
  partnerId: number;
  eventId: number;
  /** Its capacity must suffice for all inserts. */
  ticketId: number;
  seconds: number;
  batchSize: number;
}

/** The result. Latencies are those of whole batches. */
export interface InsertedBatches extends Pick<LoadResult, 'seconds' | 'latencyMs' | 'cpuMicros'> {
  rows: number;
  perSecond: number;
}

/** About the size of Floodgate's commits with 128 connections. */
const BATCH_SIZE = 128;

/** The measurement as a contender, which gets only the ticket. */
export const batchedInserts: Contender = {
  name: 'batched-inserts',
  description: `ceiling: batches of ${BATCH_SIZE} inserted on two connections, without HTTP and without a queue`,
  start: ({ databaseUrl, db }) =>
    Promise.resolve({
      baseUrl: '',
      pids: {},
      generate: async (load) => {
        const owner = await findOwner(db, ticketOf(load));
        const options = { databaseUrl, ...owner, seconds: load.seconds, batchSize: BATCH_SIZE };
        const { rows, seconds, latencyMs, cpuMicros } = await measureBatchedInserts(options);
        const answers = { '200': rows };
        return { seconds, endedAt: Date.now(), answers, latencyMs, cpuMicros, lateMs: 0 };
      },
      stop: () => Promise.resolve(),
    }),
};

const ENTRY = fileURLToPath(new URL('../peers/batched-inserts-main.ts', import.meta.url));

/**
 * Measures Postgres's ceiling: inserts and counts Floodgate's rows in batches of a fixed size on two connections, one statement and one
 * commit each, without HTTP and without a queue. Throws if the books do not balance.
 */
export async function measureBatchedInserts(options: BatchedInserts): Promise<InsertedBatches> {
  const before = await readSeats(options);
  const { stdout } = await promisify(execFile)(process.execPath, [ENTRY, JSON.stringify(options)]);
  const measured = JSON.parse(stdout) as Omit<InsertedBatches, 'perSecond'>;
  const after = await readSeats(options);
  const stored = { taken: after.taken - before.taken, held: after.held - before.held };
  if (stored.taken !== measured.rows || stored.held !== measured.rows)
    throw new Error(`the books do not balance: ${measured.rows} rows sent, ${JSON.stringify(stored)} stored`);
  return { ...measured, perSecond: measured.rows / measured.seconds };
}

function ticketOf({ requests }: Load): number {
  const body = JSON.parse(requests[0]?.body ?? '{}') as { organizedEventTicketID?: number };
  if (body.organizedEventTicketID === undefined) throw new Error('only registrations can be inserted');
  return body.organizedEventTicketID;
}

async function findOwner(
  db: Database,
  ticketId: number,
): Promise<Pick<BatchedInserts, 'partnerId' | 'eventId' | 'ticketId'>> {
  const { partner_id: partnerId, event_id: eventId } = await db
    .selectFrom('tickets')
    .innerJoin('event_grants', 'event_grants.event_id', 'tickets.event_id')
    .select(['event_grants.partner_id', 'tickets.event_id'])
    .where('tickets.id', '=', ticketId)
    .executeTakeFirstOrThrow();
  return { partnerId, eventId, ticketId };
}

async function readSeats({
  databaseUrl,
  ticketId,
}: BatchedInserts): Promise<{ taken: number; held: number }> {
  const db = connect({ connectionString: databaseUrl, applicationName: 'bench', maxConnections: 1 });
  try {
    const { rows } = await sql<{ taken: number; held: number }>`
      select taken, (select count(*) from registrations where ticket_id = tickets.id) as held
      from tickets where id = ${ticketId}`.execute(db);
    if (!rows[0]) throw new Error(`there is no ticket ${ticketId}`);
    return rows[0];
  } finally {
    await db.destroy();
  }
}
