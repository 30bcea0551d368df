import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { reserveBatch } from '@floodgate/registrations';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { attendee } from '@floodgate/test/harness/partner-client.ts';
import { reservationOf } from '@floodgate/test/harness/reservation.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { sql } from 'kysely';
import { openFloodgate } from '../contenders/floodgate.ts';
import { attempt, type Mode } from '../mode.ts';
import { assertReconciled } from '../rates/books.ts';
import { atLeast, atMost, type Values } from '../report/results.ts';
import { createCall, dataOf, type PartnerCall } from './calls.ts';

const NEWCOMERS = 8;
const JOINERS = 128;
const JOIN_SECONDS = 3;
const JOINED_MOST = 50_000;
const SOLD_TOGETHER = 5_000;
const POLL_MS = 20;
const TIMEOUT_MS = 300_000;
const SOLD_OUT = '32';

const OVERHEAD_SECONDS = 30;
const SERVED_PER_SECOND = 3_000;

const TARGETS = {
  'served per second': atLeast(5_000),
  'newcomers not answered 32': atMost(0),
  'newcomers answered 32': atLeast(1),
  'slowest answer to a newcomer ms': atMost(1_000),
};

/**
 * Measures how many entries partners add to a waiting list per second, and how many the worker serves per
 * second after the capacity was raised, while newcomers register and must be refused. Each round has a new
 * ticket.
 */
export const WAITING: Mode = {
  name: 'waiting',
  help: 'a waiting list that is served after the capacity was raised, while newcomers are refused',
  usual: { pairs: 3, rows: 100_000 },
  duration: ({ pairs, rows }) => pairs * (rows / SERVED_PER_SECOND) + OVERHEAD_SECONDS,
  measure: async (bench, { pairs, rows }) => {
    // The only partner gets all offers.
    const share = { HOLD_SHARE_PERCENT: '100' };
    await using floodgate = await openFloodgate(bench.servers, { api: share, worker: share });
    const { db, baseUrl } = floodgate;
    const fixture = await createFixture(db);
    const call = createCall(baseUrl, fixture, NEWCOMERS);
    const join = createCall(baseUrl, fixture, JOINERS);
    for (let round = 1; round <= pairs; round += 1) {
      const values = await attempt(bench, `waiting list, round ${round}`, async () => ({
        'joined per second': await joinsPerSecond(db, fixture, join),
        ...(await serveOnce(db, fixture, call, rows, () => bench.servers.checkpoint())),
      }));
      const row = `a list of ${rows.toLocaleString('en-US')} entries`;
      if (values) bench.results.add('Waiting list', row, values, TARGETS);
      bench.progress.add(rows / SERVED_PER_SECOND);
    }
    await assertReconciled(db);
  },
};

/**
 * Returns how many entries all connections add per second to the list of one ticket, each one after the
 * other.
 */
async function joinsPerSecond(db: Database, fixture: Fixture, call: PartnerCall): Promise<number> {
  // A partner can join with as many seats as the ticket has.
  const ticketId = await fixture.addTicket({ capacity: JOINED_MOST, offerHours: 24 });
  const sold = Array.from({ length: SOLD_TOGETHER }, () => reservationOf(fixture, ticketId));
  for (let left = JOINED_MOST; left > 0; left -= SOLD_TOGETHER) await reserveBatch(db, randomUUID(), sold);
  const contact = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
  const request = { organizedEventTicketID: ticketId, seats: 1, contact };
  const endAt = performance.now() + JOIN_SECONDS * 1_000;
  let joined = 0;
  const joinInTurn = async () => {
    while (performance.now() < endAt) {
      dataOf('/waiting-list', await call('/waiting-list', request));
      joined += 1;
    }
  };
  await Promise.all(Array.from({ length: JOINERS }, joinInTurn));
  return joined / JOIN_SECONDS;
}

async function serveOnce(
  db: Database,
  fixture: Fixture,
  call: PartnerCall,
  entries: number,
  checkpoint: () => Promise<void>,
): Promise<Values> {
  const ticketId = await fixture.addTicket({ capacity: 1, offerHours: 24 });
  dataOf('/register', await call('/register', attendee(ticketId)));
  await storeEntries(db, fixture, ticketId, entries);
  await waitUntil('the list is published', () => isPublished(db), TIMEOUT_MS);
  await sql`analyze`.execute(db);
  await checkpoint();
  const answers: { code: string; ms: number }[] = [];
  const served = new AbortController();
  const knock = async () => {
    while (!served.signal.aborted) {
      const since = performance.now();
      const { responseCode: code } = await call('/register', attendee(ticketId));
      answers.push({ code, ms: performance.now() - since });
    }
  };
  const newcomers = Array.from({ length: NEWCOMERS }, knock);
  const startedAt = performance.now();
  await sql`update tickets set capacity = capacity + ${entries}::integer where id = ${ticketId}`.execute(db);
  while ((await countWaiting(db, ticketId)) > 0) {
    if (performance.now() - startedAt > TIMEOUT_MS) throw new Error('the list was not served');
    await delay(POLL_MS);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  served.abort();
  await Promise.all(newcomers);
  await waitUntil('the offers are published', () => isPublished(db), TIMEOUT_MS);
  const refused = answers.filter(({ code }) => code === SOLD_OUT).length;
  return {
    'served per second': entries / seconds,
    'newcomers answered 32': refused,
    'newcomers not answered 32': answers.length - refused,
    'slowest answer to a newcomer ms': answers.reduce((slowest, { ms }) => Math.max(slowest, ms), 0),
  };
}

/** Stores entries of one seat as join_waiting does, in one statement for each table. */
async function storeEntries(
  db: Database,
  { shardId, eventId, partnerId }: Fixture,
  ticketId: number,
  entries: number,
): Promise<void> {
  await sql`
    with joined as (
      insert into waiting_entries (
        shard_id, serial, id, event_id, ticket_id, partner_id, seats, full_name, email_address
      )
      select ${shardId}::integer, nextval('registrations_serial_seq'), gen_random_uuid(), ${eventId}::integer,
        ${ticketId}::integer, ${partnerId}::integer, 1, 'Guest ' || number, 'guest' || number || '@example.com'
      from generate_series(1, ${entries}::integer) as number
      returning serial
    ),
    counted as (
      update tickets set waiting = ${entries}::integer where shard_id = ${shardId} and id = ${ticketId}
    ),
    counted_of_partner as (
      insert into waiting_partners (shard_id, ticket_id, partner_id, entries, seats)
      values (${shardId}, ${ticketId}, ${partnerId}, ${entries}::integer, ${entries}::integer)
    )
    insert into changes (shard_id, kind, event_id, partner_id, serials)
    select ${shardId}::integer, 'waiting.joined', ${eventId}::integer, ${partnerId}::integer, array[serial]
    from joined`.execute(db);
}

async function countWaiting(db: Database, ticketId: number): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select waiting from tickets where id = ${ticketId}`.execute(
    db,
  );
  return rows[0]!.waiting;
}

async function isPublished(db: Database): Promise<boolean> {
  const { rows } = await sql`
    (select from changes limit 1) union all (select from batches where state = 'pending' limit 1)`.execute(
    db,
  );
  return rows.length === 0;
}
