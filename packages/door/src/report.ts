import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { formatPassReference } from '@floodgate/contract';
import { sql } from 'kysely';
import { listDevices, missingCounters, type Device } from './devices.ts';
import { countGates, type CountedGate } from './gates.ts';
import { readPeople, type People } from './people.ts';

/** Everything that is known about the doors of an event. */
export interface DoorReport extends Verdict, People {
  eventId: number;
  name: string;
  gates: CountedGate[];
  devices: ReportedDevice[];
  conflicts: Conflict[];
  refused: RefusedScans[];
}

/**
 * Whether every scan of every device was received. It is complete if nothing is open and there are no
 * exceptions.
 */
export interface Verdict {
  complete: boolean;
  /** Facts that can still change: scans can arrive. */
  open: string[];
  /** Facts that cannot change: a device is lost, was revoked or has sent two scans with one counter. */
  except: string[];
}

type DeviceState = 'not enrolled' | 'lost' | 'signed off' | 'revoked' | 'active';

/** A device of the report. */
export interface ReportedDevice extends Pick<
  Device,
  | 'id'
  | 'name'
  | 'version'
  | 'lastContactAt'
  | 'skewMs'
  | 'lastCounter'
  | 'received'
  | 'revokedAt'
  | 'forkedCounter'
> {
  /** The ranges of counters whose scans were not received. */
  missing: [first: number, last: number][];
  /** Says why it may have more scans. */
  state: DeviceState;
  /** The number of admissions that it has undone. */
  undone: number;
}

interface ConflictingAdmission {
  passReference: string;
  gate: string;
  device: string;
  at: Date;
}

/** Two devices let in a person for one seat. */
export interface Conflict {
  /** The pass of the later admission. The passes differ if the attendee was changed between. */
  passReference: string;
  area: string;
  first: ConflictingAdmission;
  again: ConflictingAdmission;
}

/** The refused scans with one outcome. */
export interface RefusedScans {
  outcome: string;
  scans: number;
  /** Those whose device let the person in offline. */
  letIn: number;
}

/** Returns the report about the doors of an event. */
export async function readDoorReport(db: Database, event: Event): Promise<DoorReport> {
  const { id: eventId, shardId, name } = event;
  const devices: ReportedDevice[] = [];
  const undone = await countUndone(db, event);
  for (const device of await listDevices(db, event))
    devices.push({ ...(await describe(db, shardId, device)), undone: undone.get(device.id) ?? 0 });
  const gates = await countGates(db, event);
  const conflicts = await listConflicts(db, event);
  const refused = await countRefused(db, event);
  const people = await readPeople(db, event);
  return { eventId, name, ...verdictOf(devices), ...people, gates, devices, conflicts, refused };
}

/**
 * Returns a device, with the counters of its scans that were not received, and the reason why it may have
 * more.
 */
async function describe(
  db: Database,
  shardId: number,
  device: Device,
): Promise<Omit<ReportedDevice, 'undone'>> {
  const { id, name, version, lastContactAt, skewMs, lastCounter, received, revokedAt, forkedCounter } =
    device;
  const facts = { id, name, version, lastContactAt, skewMs, lastCounter, received, revokedAt, forkedCounter };
  return { ...facts, missing: await missingCounters(db, shardId, device), state: stateOf(device) };
}

function stateOf({ enrolled, revokedAt, lost, signedOffAt }: Device): DeviceState {
  if (!enrolled) return 'not enrolled';
  if (lost) return 'lost';
  // Also if it was revoked afterwards.
  if (signedOffAt) return 'signed off';
  return revokedAt ? 'revoked' : 'active';
}

/** Returns whether the scans of these devices are complete. */
function verdictOf(devices: readonly ReportedDevice[]): Verdict {
  const except: string[] = [];
  const open: string[] = [];
  for (const { id, name, state, missing, lastCounter, revokedAt, forkedCounter } of devices) {
    const device = `device ${id} (${name})`;
    const counters = missing
      .map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
      .join(', ');
    // A revoked device can send nothing any more.
    if (missing.length > 0) (revokedAt ? except : open).push(`${device}: scans ${counters} are missing`);
    if (state === 'lost' || state === 'revoked')
      except.push(`${device} is ${state}: scans after ${lastCounter} are not known`);
    if (state === 'active') open.push(`${device} has not signed off after scan ${lastCounter}`);
    if (forkedCounter !== null) except.push(`${device} has sent two different scans ${forkedCounter}`);
  }
  return { complete: open.length === 0 && except.length === 0, open, except };
}

/** Returns the conflicts of an event, oldest first. */
async function listConflicts(
  db: Database,
  { id: eventId, shardId, passPrefix: prefix }: Event,
): Promise<Conflict[]> {
  type Row = Record<'registration' | 'passCode' | 'firstRegistration' | 'firstPassCode', number> &
    Record<'area' | 'gate' | 'device' | 'firstGate' | 'firstDevice', string> &
    Record<'at' | 'firstAt', Date>;
  const { rows } = await sql<Row>`
    select a.registration, r.pass_code as "passCode", a.area, a.at, g.name as gate, d.name as device,
      f.registration as "firstRegistration", fr.pass_code as "firstPassCode",
      f.at as "firstAt", fg.name as "firstGate", fd.name as "firstDevice"
    from admissions a
    join admissions f on f.shard_id = a.shard_id and f.serial = a.again_of
    join registrations r on r.shard_id = a.shard_id and r.serial = a.registration
    join registrations fr on fr.shard_id = a.shard_id and fr.serial = f.registration
    join gates g on g.shard_id = a.shard_id and g.id = a.gate_id
    join gates fg on fg.shard_id = a.shard_id and fg.id = f.gate_id
    join devices d on d.shard_id = a.shard_id and d.id = a.device_id
    join devices fd on fd.shard_id = a.shard_id and fd.id = f.device_id
    where a.shard_id = ${shardId} and a.event_id = ${eventId} and a.again_of is not null and a.undone_at is null
    order by a.at, a.serial`.execute(db);
  const referenceOf = (serial: number, passCode: number) =>
    formatPassReference({ prefix, eventId, serial, passCode });
  return rows.map(({ registration, passCode, area, ...row }) => {
    const passReference = referenceOf(registration, passCode);
    const firstPass = referenceOf(row.firstRegistration, row.firstPassCode);
    return {
      passReference,
      area,
      first: { passReference: firstPass, gate: row.firstGate, device: row.firstDevice, at: row.firstAt },
      again: { passReference, gate: row.gate, device: row.device, at: row.at },
    };
  });
}

/**
 * Returns the number of admissions that each device has undone. An undo is a scan like any other, so it stays
 * known after the admission is gone.
 */
async function countUndone(db: Database, { id: eventId, shardId }: Event) {
  const { rows } = await sql<{ device: number; undone: number }>`
    select u.device_id as device, count(distinct u.of_counter)::integer as undone
    from scans u
    join scans s on s.shard_id = u.shard_id and s.device_id = u.device_id and s.counter = u.of_counter
    where u.shard_id = ${shardId} and u.event_id = ${eventId} and u.of_counter is not null and u.direction = 'undo'
      and s.direction = 'in' and (s.decision = 'admitted' or exists (
        select from admissions a
        where a.shard_id = u.shard_id and a.device_id = u.device_id and a.counter = s.counter
      ))
    group by u.device_id`.execute(db);
  return new Map(rows.map(({ device, undone }) => [device, undone]));
}

/** Returns the number of refused scans by outcome. */
async function countRefused(db: Database, { id, shardId }: Event): Promise<RefusedScans[]> {
  const { rows } = await sql<RefusedScans>`
    select outcome, count(*)::integer as scans, (count(*) filter (where decision = 'admitted'))::integer as "letIn"
    from scans
    where shard_id = ${shardId} and event_id = ${id}
      and outcome not in ('admitted', 'exited', 'undone', 'superseded') and outcome <> 'admitted-again'
    group by outcome order by scans desc, outcome`.execute(db);
  return rows;
}
