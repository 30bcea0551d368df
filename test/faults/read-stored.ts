import { formatPassReference } from '@floodgate/contract';
import { connect } from '@floodgate/database';
import { sql } from 'kysely';
import { withDatabase } from '../harness/database-url.ts';
import { journalOf } from '../harness/journal.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Deployment } from './deployment.ts';
import type { EventOnSale } from './events-on-sale.ts';
import { seatId, type SetExpiry, type Stored, type StoredEntry, type StoredRegistration } from './history.ts';
import { tablesOf } from '../harness/stored-tables.ts';

/** By Postgres' own clock. */
export async function readNow({ db }: Deployment): Promise<Date> {
  const { rows } = await waitUntil('Postgres tells the time', () =>
    sql<{ now: Date }>`select clock_timestamp() as now`.execute(db).catch(() => null),
  );
  return rows[0]!.now;
}

/** Returns whether everything that was committed before is finalized and published; false if a server does not answer. */
export async function isFinalized({ db }: Deployment, before: Date): Promise<boolean> {
  const pending = tablesOf(db).selectFrom('batches').select('shard_id').where('state', '=', 'pending');
  const changes = tablesOf(db).selectFrom('changes').select('shard_id').where('at', '<=', before);
  return Promise.all([
    pending.where('created_at', '<=', before).limit(1).execute(),
    changes.limit(1).execute(),
  ]).then(
    (rows) => rows.flat().length === 0,
    () => false,
  );
}

/** Whether no server holds a transaction that has written, under way or prepared. False where a server does not answer. */
export async function hasNoneOpen({ postgres, nodes }: Deployment): Promise<boolean> {
  for (const server of [postgres, ...nodes.map((node) => node.server)]) {
    const connectionString = withDatabase(server.url(), 'postgres');
    await using db = connect({ connectionString, applicationName: 'fault suite', maxConnections: 1 });
    const open = sql`
      select from pg_prepared_xacts union all select from pg_stat_activity where backend_xid is not null limit 1`;
    const rows = await open.execute(db).then(
      (answer) => answer.rows,
      () => null,
    );
    if (rows?.length !== 0) return false;
  }
  return true;
}

export interface EndOptions {
  /** How many of them. */
  percent: number;
  /** In what time. */
  inMs: number;
  /** By the clock of the round. */
  now: () => number;
  /** Where it is noted. */
  expiries: SetExpiry[];
}

/** Sets the time at which some of the held seats expire. Rejects where a server does not answer. */
export async function endHolds(
  { db }: Deployment,
  events: readonly EventOnSale[],
  { percent, inMs, now, expiries }: EndOptions,
): Promise<void> {
  for (const { fixture } of events) {
    const at = now() + inMs;
    const { rows } = await sql<{ serial: number; ticketId: number; end: Date }>`
      select serial, ticket_id as "ticketId", now() + make_interval(secs => ${inMs / 1_000}) as end
      from registrations
      where shard_id = ${fixture.shardId} and event_id = ${fixture.eventId} and held_until > now() and held_until < 'infinity'
        and cancelled_at is null
        and abs(hashtext(coalesce(hold_id::text, serial::text)) % 100) < ${percent}`.execute(db);
    const serials = rows.map(({ serial }) => serial);
    if (serials.length === 0) continue;
    // Before it is done: a server that is lost meanwhile may have done it.
    expiries.push(...rows.map(({ serial, ticketId }) => ({ serial, ticketId, at })));
    await sql`
      update registrations set held_until = ${rows[0]!.end}
      where shard_id = ${fixture.shardId} and serial = any(${serials}::bigint[]) and held_until < 'infinity'`.execute(
      db,
    );
  }
}

/** Whether no seat is held any longer than its time. False where a server does not tell. */
export async function isNoneOverdue({ db }: Deployment): Promise<boolean> {
  const overdue = sql`
    select from registrations where held_until <= now() and cancelled_at is null limit 1`.execute(db);
  return overdue.then(
    ({ rows }) => rows.length === 0,
    () => false,
  );
}

/** Reads what is stored of a round's events. */
export async function readStored({ db }: Deployment, events: readonly EventOnSale[]): Promise<Stored> {
  const stored = await Promise.all(events.map((event) => readEvent(db, event)));
  // Several partners sell the same tickets.
  const tickets = new Map(stored.flatMap((one) => one.tickets.map((ticket) => [ticket.id, ticket])));
  return {
    registrations: stored.flatMap(({ registrations }) => registrations),
    entries: stored.flatMap(({ entries }) => entries),
    offered: stored.flatMap(({ offered }) => offered),
    tickets: [...tickets.values()],
    allocations: stored.flatMap(({ allocations }) => allocations),
  };
}

async function readEvent(db: Deployment['db'], { fixture, ticketIds }: EventOnSale): Promise<Stored> {
  const { shardId, eventId, partnerId, passPrefix: prefix } = fixture;
  const rows = await tablesOf(db)
    .selectFrom('registrations as r')
    .innerJoin('batches as b', (join) =>
      join.onRef('b.shard_id', '=', 'r.shard_id').onRef('b.id', '=', 'r.batch_id'),
    )
    .select([
      'r.serial',
      'r.pass_code as passCode',
      'r.ticket_id as ticketId',
      'r.extra_data_1 as requestId',
      'r.email_address as address',
      'r.hold_id as holdId',
      'r.partner_reference as basket',
      'r.replaced_by as replacedBy',
      'b.state',
      'r.cancelled_at as cancelledAt',
      'r.held_until as heldUntil',
    ])
    .where('r.shard_id', '=', shardId)
    .where('r.ticket_id', 'in', ticketIds)
    .where('r.partner_id', '=', partnerId)
    .orderBy('r.serial')
    .execute();
  const changes = await readChanges(db, fixture);
  const tickets = await db
    .selectFrom('tickets')
    .select(['id', 'capacity', 'taken'])
    .where('shard_id', '=', shardId)
    .where('id', 'in', ticketIds)
    .execute();
  const allocations = await tablesOf(db)
    .selectFrom('allocations')
    .select(['ticket_id as ticketId', 'cap'])
    .where('shard_id', '=', shardId)
    .where('ticket_id', 'in', ticketIds)
    .where('partner_id', '=', partnerId)
    .execute();
  const entries = await readEntries(db, fixture);
  const references = new Set(entries.map(({ reference }) => reference));
  const sold = rows.filter(({ cancelledAt }) => cancelledAt === null);
  const baskets = Map.groupBy(rows, ({ holdId }) => holdId);
  const storedOf = (row: (typeof rows)[number]): StoredRegistration => {
    const { serial, passCode, ticketId, requestId, state, cancelledAt, heldUntil, holdId, basket } = row;
    return {
      // A seat that has no attendee of its own has its place in the basket.
      requestId: requestId ?? (holdId && seatId(basket ?? '', baskets.get(holdId)!.indexOf(row))) ?? '',
      ticketId,
      passReference: formatPassReference({ prefix, eventId, serial, passCode }),
      state,
      isCancelled: cancelledAt !== null,
      isHeld: heldUntil instanceof Date && cancelledAt === null,
      isReplaced: row.replacedBy !== null,
      address: row.address,
      changes: changes.get(serial) ?? [],
    };
  };
  return {
    tickets,
    allocations: allocations.map(({ ticketId, cap }) => ({
      ticketId,
      cap,
      seats: sold.filter((row) => row.ticketId === ticketId).length,
    })),
    entries,
    offered: rows.filter(({ holdId }) => references.has(holdId ?? '')).map(storedOf),
    registrations: rows.filter(({ holdId }) => !references.has(holdId ?? '')).map(storedOf),
  };
}

/** What the journal tells of the event's registrations, by serial. */
async function readChanges(db: Deployment['db'], fixture: EventOnSale['fixture']) {
  const changes = new Map<number, string[]>();
  for (const { serial, kind } of await journalOf(db, fixture))
    if (serial !== null) changes.set(serial, [...(changes.get(serial) ?? []), kind]);
  return changes;
}

/** The entries that a partner of an event has on waiting lists. */
async function readEntries(db: Deployment['db'], { shardId, eventId, partnerId }: EventOnSale['fixture']) {
  const { rows } = await sql<StoredEntry>`
    select partner_reference as "requestId", id as reference, serial, ticket_id as "ticketId", seats::integer, state,
      offered_at is not null as "wasOffered"
    from waiting_entries
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id = ${partnerId} order by serial`.execute(
    db,
  );
  return rows;
}

/** Whether no seat is free for an entry that waits. False where a server does not tell. */
export async function isNoneServable({ db }: Deployment): Promise<boolean> {
  const servable = sql`
    select from tickets t join waiting_entries e on e.shard_id = t.shard_id and e.ticket_id = t.id
    where t.waiting > 0 and e.state = 'waiting' and e.seats <= t.capacity - t.taken limit 1`.execute(db);
  return servable.then(
    ({ rows }) => rows.length === 0,
    () => false,
  );
}
