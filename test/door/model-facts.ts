import { sql } from 'kysely';
import type { Door, Entry, Gate, Pass, World } from './drawn-doors.ts';
import { judge, type Fact } from './model.ts';

/** A scan or an admission as the server stores it. Times are in microseconds. */
export interface Stored {
  deviceId: number;
  counter: number;
  at: number;
  /** As the report shows it. */
  date: Date;
  receivedAt: number;
}

export interface StoredAdmission extends Stored {
  serial: number;
  isUndone: boolean;
}

/** What the server has stored. The model takes only the times, which it checks, from here. By device and counter. */
export interface Recorded {
  scans: Map<string, Stored>;
  admissions: Map<string, StoredAdmission>;
  /** By serial of the registration. */
  cancelledAt: Map<number, number>;
}

/** A fact, and the scan that says so. */
export interface ScannedFact extends Fact {
  door: Door;
  entry: Entry;
  date: Date;
}

export const scanKey = (deviceId: number, counter: number) => `${deviceId}/${counter}`;
const byScan = <Item extends Stored>(rows: readonly Item[]) =>
  new Map(rows.map((row) => [scanKey(row.deviceId, row.counter), row]));

const micros = (column: string) => sql.raw<number>(`(extract(epoch from ${column}) * 1000000)::bigint`);

export async function readRecorded({ db, fixture: { shardId, eventId } }: World): Promise<Recorded> {
  const ofEvent = sql`where shard_id = ${shardId} and event_id = ${eventId}`;
  const scans = await sql<Stored>`
    select device_id as "deviceId", counter, ${micros('at')} as at, at as date, ${micros('received_at')} as "receivedAt"
    from scans ${ofEvent}`.execute(db);
  const admissions = await sql<StoredAdmission>`
    select serial, device_id as "deviceId", counter, ${micros('at')} as at, at as date, undone_at is not null as "isUndone"
    from admissions ${ofEvent}`.execute(db);
  const cancelled = await sql<{ serial: number; at: number }>`
    select serial, ${micros('cancelled_at')} as at from registrations ${ofEvent} and cancelled_at is not null`.execute(
    db,
  );
  const cancelledAt = new Map(cancelled.rows.map(({ serial, at }) => [serial, at]));
  return { scans: byScan(scans.rows), admissions: byScan(admissions.rows), cancelledAt };
}

/** Returns the received scans of a door that another one of it undoes or decides, with the counter of that one. */
export function voidedOf({ entries }: Door): Map<number, Entry> {
  const later = entries.filter(({ isReceived, scan }) => isReceived && scan.of !== null);
  return new Map(later.map((entry) => [entry.scan.of!, entry]));
}

/** Returns whether the server has let the person in before it received this decision of the device. */
export const isAdmittedBefore = ({ entries }: Door, { scan }: Entry) =>
  scan.of !== null && entries[scan.of - 1]!.outcome === 'admitted';

function isIn(door: Door, entry: Entry, at: number, { cancelledAt }: Recorded): boolean {
  const { scan, outcome, pass } = entry;
  if (scan.decision === null) return outcome === 'admitted';
  if (scan.decision !== 'admitted') return false;
  return isAdmittedBefore(door, entry) || at < (cancelledAt.get(pass.serial) ?? Infinity);
}

const isOut = ({ scan, outcome, pass }: Entry) =>
  pass.fault === null && (scan.decision ?? outcome) === 'exited';

/** Returns who was let in and who left, by all scans that the server has received. */
export function factsOf({ doors }: Pick<World, 'doors'>, recorded: Recorded): ScannedFact[] {
  return doors.flatMap((door) => {
    const voided = voidedOf(door);
    return door.entries.flatMap((entry) => {
      const { isReceived, scan } = entry;
      const key = scanKey(door.client.id, scan.counter);
      const stored = recorded.scans.get(key);
      if (!isReceived || !stored || voided.has(scan.counter) || scan.direction === 'undo') return [];
      const counts = scan.direction === 'out' ? isOut(entry) : isIn(door, entry, stored.at, recorded);
      const { at, date } = (scan.direction === 'in' && recorded.admissions.get(key)) || stored;
      const fact = { deviceId: door.client.id, counter: scan.counter, direction: scan.direction, at, date };
      return counts ? [{ ...fact, door, entry }] : [];
    });
  });
}

/** Returns what the server must answer to a question. */
export async function predict(
  world: World,
  { pass, gate, direction }: { pass: Pass; gate: Gate; direction: 'in' | 'out' },
): Promise<string> {
  if (pass.fault) return pass.fault;
  if (direction === 'out') return 'exited';
  if (gate.tickets && !gate.tickets.includes(pass.ticketId)) return 'wrong-gate';
  if (world.cancelled.has(pass)) return 'cancelled';
  const facts = factsOf(world, await readRecorded(world)).filter(
    ({ entry }) => entry.pass.seat === pass.seat && entry.gate.area === gate.area,
  );
  return judge(gate.rule, facts).isAdmitted ? 'admitted' : 'already-admitted';
}

/** Returns whether the seat of a pass has let in a person, by what the server has received. */
export const isSeatAdmitted = async (world: World, { seat }: Pass) =>
  factsOf(world, await readRecorded(world)).some(
    ({ direction, entry }) => direction === 'in' && entry.pass.seat === seat,
  );
