import type { Database } from '@floodgate/database';
import { listRegistrations } from '@floodgate/registrations';
import { sql } from 'kysely';
import type { HistoryReads } from '../results.ts';

const PAGE_BYTES = 8_192;

/**
 * Reads all entries of a partner under these events page by page, and counts Postgres's reads by its own statistics: rows fetched from the
 * journal and from registrations, and pages of these two tables without their indexes. Throws if an entry is missing, repeated or out of
 * order.
 */
export async function countReads(
  db: Database,
  partnerId: number,
  events: readonly { id: number; expected: number }[],
  limit: number,
): Promise<HistoryReads> {
  // The statistics of a transaction include only its own reads and are available immediately.
  return db.transaction().execute(async (transaction) => {
    let [returned, requests] = [0, 0];
    for (const { id, expected } of events) {
      const pulled = await pull(transaction, { shardId: 0, eventId: id, partnerId }, limit);
      if (pulled.entries !== expected)
        throw new Error(`event ${id}: ${pulled.entries} entries were read of ${expected}`);
      returned += pulled.entries;
      requests += pulled.requests;
    }
    const [segments, registrations] = await readStatistics(transaction);
    return {
      returned,
      requests,
      segments: segments.rows,
      registrations: registrations.rows,
      bytes: (segments.pages + registrations.pages) * PAGE_BYTES,
    };
  });
}

async function pull(db: Database, selection: Parameters<typeof listRegistrations>[1], limit: number) {
  let [entries, requests, cursor, lastSerial] = [0, 0, '0', 0];
  for (let more = true; more; requests += 1) {
    const page = await listRegistrations(db, selection, Number(cursor), limit);
    if (typeof page === 'string') throw new Error(page);
    for (const { serial } of page.rows) {
      if (serial <= lastSerial) throw new Error(`serial ${serial} comes after ${lastSerial}`);
      lastSerial = serial;
    }
    entries += page.rows.length;
    ({ cursor, more } = page);
  }
  return { entries, requests };
}

type Statistics = { rows: number; pages: number };

/** Returns the statistics of the journal and of registrations since the transaction began. */
async function readStatistics(transaction: Database): Promise<[Statistics, Statistics]> {
  const { rows } = await sql<Statistics>`
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows,
      pg_stat_get_xact_blocks_fetched(relid) as pages
    from pg_stat_xact_user_tables
    where relname in ('journal_segments', 'registrations')
    order by relname`.execute(transaction);
  return rows as [Statistics, Statistics];
}
