import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

// Triggers record every change of tickets, registrations and waiting entries, numbered by a sequence. Times
// cannot order these changes: now() is the start of a transaction, and a transaction that began earlier can
// get the lock of the ticket later. The numbers can: each transaction that changes the seats or the list of a
// ticket draws them between its lock of the ticket and its commit. So the changes of two such transactions do
// not mix, and their order is the order in which they held the lock. Only the confirmation of a hold has no
// lock. It changes neither the seats nor who waits.

/** Starts to record. Only tests do this, so the triggers are not part of the schema. */
export async function recordChanges(db: Database): Promise<void> {
  await sql`
    create table recorded_changes (
      number bigserial primary key, transaction text not null default pg_current_xact_id()::text, source text not null,
      ticket_id integer not null, before jsonb, after jsonb not null
    )`.execute(db);
  await sql`create index on recorded_changes (ticket_id)`.execute(db);
  await sql`
    create function record_row() returns trigger language plpgsql as $$
    begin
      insert into recorded_changes (source, ticket_id, before, after) values (
        tg_table_name, (to_jsonb(new) ->> tg_argv[0])::integer, case when tg_op = 'UPDATE' then to_jsonb(old) end, to_jsonb(new)
      );
      return null;
    end $$`.execute(db);
  for (const [table, ticket] of [
    ['tickets', 'id'],
    ['registrations', 'ticket_id'],
    ['waiting_entries', 'ticket_id'],
  ] as const)
    await sql`
      create trigger record_row after insert or update on ${sql.table(table)}
      for each row execute function record_row(${sql.lit(ticket)})`.execute(db);
}

interface Recorded {
  transaction: string;
  source: 'tickets' | 'registrations' | 'waiting_entries';
  before: Row | null;
  after: Row;
}

/** The columns of the three tables that the model reads. */
interface Row {
  serial: number;
  capacity: number;
  taken: number;
  waiting: number;
  active: boolean;
  offer_hours: number | null;
  waiting_closes_at: string | null;
  cancelled_at: string | null;
  hold_id: string | null;
  id: string;
  seats: number;
  state: string;
  partner_id: number;
}

/** What one transaction did to a ticket. */
interface Step {
  newcomers: number;
  offered: Row[];
  /** Whether it changed the capacity, opened or closed the list, or stopped or resumed the sale. */
  isChangeOfTicket: boolean;
}

/** A ticket and its waiting list, rebuilt from the recorded changes. */
class ListModel {
  ticket: Row | null = null;
  readonly seats = new Set<number>();
  readonly waiting = new Map<number, Row>();
  readonly #entryIds: ReadonlySet<string>;

  constructor(entryIds: ReadonlySet<string>) {
    this.#entryIds = entryIds;
  }

  /** Whether the ticket is on sale and its list is open. */
  isOpen(): boolean {
    const { active, offer_hours, waiting_closes_at } = this.ticket!;
    return active && offer_hours !== null && waiting_closes_at === null;
  }

  /** Whether seats are free for an entry that waits, and can be offered. */
  hasIdleSeats(): boolean {
    const free = this.ticket!.capacity - this.seats.size;
    return this.isOpen() && [...this.waiting.values()].some(({ seats }) => seats <= free);
  }

  /** Applies the changes of a transaction. */
  apply(changes: readonly Recorded[]): Step {
    const step: Step = { newcomers: 0, offered: [], isChangeOfTicket: false };
    for (const { source, before, after } of changes) {
      if (source === 'tickets') this.#changeTicket(after, step);
      else if (source === 'registrations') this.#changeSeat(before, after, step);
      else this.#changeEntry(before, after, step);
    }
    return step;
  }

  #changeTicket(after: Row, step: Step): void {
    const settings = ({ active, capacity, offer_hours, waiting_closes_at }: Row) =>
      [active, capacity, offer_hours, waiting_closes_at].join();
    step.isChangeOfTicket ||= this.ticket === null || settings(this.ticket) !== settings(after);
    this.ticket = after;
  }

  #changeSeat(before: Row | null, after: Row, step: Step): void {
    if (before === null) {
      this.seats.add(after.serial);
      if (!this.#entryIds.has(after.hold_id ?? '')) step.newcomers += 1;
    } else if (after.cancelled_at !== null) this.seats.delete(after.serial);
  }

  #changeEntry(before: Row | null, after: Row, step: Step): void {
    if (after.state === 'waiting') this.waiting.set(after.serial, after);
    else this.waiting.delete(after.serial);
    if (after.state === 'offered' && before?.state === 'waiting') step.offered.push(after);
  }
}

/**
 * Returns what was wrong in the order of the recorded changes of a ticket. With shares, a partner can be
 * skipped. The records do not tell when, because the confirmation of a hold has no lock. So then only entries
 * of one partner are compared.
 */
export async function findWrongSteps(db: Database, ticketId: number, hasShares: boolean): Promise<string[]> {
  const { rows } = await sql<Recorded>`
    select transaction, source, before, after from recorded_changes where ticket_id = ${ticketId} order by number`.execute(
    db,
  );
  const entryIds = new Set(
    rows.filter(({ source }) => source === 'waiting_entries').map(({ after }) => after.id),
  );
  const model = new ListModel(entryIds);
  return [...Map.groupBy(rows, ({ transaction }) => transaction)].flatMap(([transaction, changes]) =>
    applyStep(model, changes, hasShares).map(
      (problem) => `ticket ${ticketId}, transaction ${transaction}: ${problem}`,
    ),
  );
}

function applyStep(model: ListModel, changes: readonly Recorded[], hasShares: boolean): string[] {
  const before = model.ticket && { waiting: model.waiting.size, isIdle: model.hasIdleSeats() };
  const { newcomers, offered, isChangeOfTicket } = model.apply(changes);
  const { capacity, taken, waiting } = model.ticket!;
  const { size } = model.seats;
  const passedOver = (late: Row) =>
    [...model.waiting.values()].filter(
      (early) =>
        early.serial < late.serial &&
        early.seats <= late.seats &&
        (!hasShares || early.partner_id === late.partner_id),
    );
  const problems: [boolean, string][] = [
    [size > capacity, `${size} of ${capacity} seats are taken`],
    [size !== taken, `taken is ${taken}, and ${size} seats are`],
    [waiting !== model.waiting.size, `waiting is ${waiting}, and ${model.waiting.size} entries wait`],
    [
      newcomers > 0 && before !== null && before.waiting > 0,
      `${newcomers} newcomers got seats while somebody waited`,
    ],
    [
      offered.some((late) => passedOver(late).length > 0),
      'an entry was served before an older one that needs no more seats',
    ],
    [
      offered.length > 0 && !model.isOpen(),
      'an offer was made although the ticket is not on sale, or its list is closed',
    ],
    // A raised capacity, an opened list and a resumed sale wait for the worker.
    [
      !hasShares && model.hasIdleSeats() && !(before?.isIdle ?? false) && !isChangeOfTicket,
      'seats are free, and were not offered to an entry that they can serve',
    ],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem);
}
