import type { Database } from '@floodgate/database';
import { sleep, systemClock, type Clock } from '@floodgate/service';
import { sql, type RawBuilder } from 'kysely';

// A report of a million seats uses a core of Postgres for seconds. On a machine that is busy with a launch,
// that is a quarter of the launch. So while partners register, a report reads one window of serials after the
// other, with pauses. Otherwise it reads all in one statement, which is faster.

/** Serials of a window, of any event: there is no index by event. */
const WINDOW = 50_000;
/** While partners register, a report uses a quarter of the time that it could, like a job. */
const BESIDE_SALES = 3;
/** Postgres ends a transaction that is idle for ten seconds. */
const LONGEST_MS = 2_000;

/** The serials above `after`, up to `upTo`. */
export interface Window {
  after: number;
  upTo: number;
}

const EVERYTHING: Window = { after: 0, upTo: Number.MAX_SAFE_INTEGER };

/** The counts of a group within a window. */
interface Counts {
  /** A JSON object. */
  group: string;
  counts: number[];
}

/**
 * Adds up counts about the registrations of a shard, as of one moment. `countsIn` returns the statement for a
 * window, with the columns of `Counts`. Returns a list in JSON: for each group its object, and in it `counts`.
 */
export function countInWindows(
  db: Database,
  shardId: number,
  countsIn: (window: Window) => RawBuilder<unknown>,
  { size = WINDOW, clock = systemClock }: { size?: number; clock?: Clock } = {},
): Promise<string> {
  // One snapshot: a seat whose attendee is changed meanwhile would count twice.
  const inSnapshot = db.transaction().setIsolationLevel('repeatable read');
  return inSnapshot.execute(async (snapshot) => {
    const sums = new Map<string, number[]>();
    const add = async (window: Window) => {
      const { rows } = await sql<Counts>`${countsIn(window)}`.execute(snapshot);
      for (const { group, counts } of rows) {
        const known = sums.get(group);
        sums.set(group, known ? known.map((count, index) => count + counts[index]!) : counts);
      }
    };
    if (!(await isSelling(snapshot, shardId))) await add(EVERYTHING);
    else
      for (let after = 0; ;) {
        const startedAt = clock.now();
        const first = await findFirst(snapshot, shardId, after);
        if (first === null) break;
        const upTo = first + size - 1;
        await add({ after, upTo });
        after = upTo;
        await sleep(clock, Math.min(LONGEST_MS, BESIDE_SALES * (clock.now() - startedAt)));
      }
    return listOf(sums);
  });
}

const listOf = (sums: Map<string, number[]>) =>
  JSON.stringify([...sums].map(([group, counts]) => ({ ...(JSON.parse(group) as object), counts })));

/** Returns whether partners register in the shard. */
async function isSelling(db: Database, shardId: number) {
  const { rows } = await sql`
    select from batches
    where shard_id = ${shardId} and journal_offset is null and state = 'pending' limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns the next serial, because there are gaps of any size; null if there is none. */
async function findFirst(db: Database, shardId: number, after: number) {
  const { rows } = await sql<{ serial: number }>`
    select serial from registrations where shard_id = ${shardId} and serial > ${after}
    order by serial limit 1`.execute(db);
  return rows[0]?.serial ?? null;
}
