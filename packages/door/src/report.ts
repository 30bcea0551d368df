import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { formatPassReference } from '@floodgate/contract';
import { sql } from 'kysely';
import { describeDevices, type DescribedDevice } from './described-devices.ts';
import { countGates, type CountedGate } from './gates.ts';
import { nameOf, readPeople, type People } from './people.ts';

/** Everything that is known about the doors of an event. */
export interface DoorReport extends Verdict, People {
  eventId: number;
  name: string;
  gates: CountedGate[];
  devices: DescribedDevice[];
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

interface ConflictingAdmission {
  passReference: string;
  /** Of the attendee. Null: the caller may not see it, or it is erased. */
  fullName: string | null;
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

/**
 * Returns the report about the doors of an event. `showsNames`: with the names of the attendees of passes.
 */
export async function readDoorReport(db: Database, event: Event, showsNames: boolean): Promise<DoorReport> {
  const { id: eventId, name } = event;
  const devices = await describeDevices(db, event);
  const gates = await countGates(db, event);
  const conflicts = await listConflicts(db, event, showsNames);
  const refused = await countRefused(db, event);
  const people = await readPeople(db, event, showsNames);
  return { eventId, name, ...verdictOf(devices), ...people, gates, devices, conflicts, refused };
}

/** Returns whether the scans of these devices are complete. */
function verdictOf(devices: readonly DescribedDevice[]): Verdict {
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
  showsNames: boolean,
): Promise<Conflict[]> {
  type Row = Record<'registration' | 'passCode' | 'firstRegistration' | 'firstPassCode', number> &
    Record<'area' | 'gate' | 'device' | 'firstGate' | 'firstDevice', string> &
    Record<'at' | 'firstAt', Date> &
    Record<'fullName' | 'firstFullName', string | null>;
  const { rows } = await sql<Row>`
    select a.registration, r.pass_code as "passCode", a.area, a.at, g.name as gate, d.name as device,
      ${nameOf('r', showsNames)} as "fullName", ${nameOf('fr', showsNames)} as "firstFullName",
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
      first: {
        passReference: firstPass,
        fullName: row.firstFullName,
        gate: row.firstGate,
        device: row.firstDevice,
        at: row.firstAt,
      },
      again: { passReference, fullName: row.fullName, gate: row.gate, device: row.device, at: row.at },
    };
  });
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
