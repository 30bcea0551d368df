import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { listDevices, missingCounters, type Device } from './devices.ts';
import { listGates, type EventId } from './gates.ts';
import { listSilentDevices } from './silent-devices.ts';

export type DeviceState = 'not enrolled' | 'lost' | 'signed off' | 'revoked' | 'active';

/** A device with what its scans and its contacts say about it. */
export interface DescribedDevice extends Device {
  /** Where it may scan. */
  gateNames: string[];
  /** Says why it may have more scans. */
  state: DeviceState;
  /** The ranges of counters whose scans were not received. */
  missing: [first: number, last: number][];
  /** The number of admissions that it has undone. */
  undone: number;
  /** Whether it should be in contact, but was not for five minutes. */
  isSilent: boolean;
}

/** Returns the devices of an event, oldest first. */
export async function describeDevices(db: Database, event: EventId): Promise<DescribedDevice[]> {
  const undone = await countUndone(db, event);
  const silent = new Set((await listSilentDevices(db, event)).map(({ id }) => id));
  const gates = await listGates(db, event);
  const devices: DescribedDevice[] = [];
  for (const device of await listDevices(db, event)) {
    const { id } = device;
    devices.push({
      ...device,
      gateNames: gates.filter((gate) => device.gates.includes(gate.id)).map(({ name }) => name),
      state: stateOf(device),
      missing: await missingCounters(db, event.shardId, device),
      undone: undone.get(id) ?? 0,
      isSilent: silent.has(id),
    });
  }
  return devices;
}

function stateOf({ enrolled, revokedAt, lost, signedOffAt }: Device): DeviceState {
  if (!enrolled) return 'not enrolled';
  if (lost) return 'lost';
  // Also if it was revoked afterwards.
  if (signedOffAt) return 'signed off';
  return revokedAt ? 'revoked' : 'active';
}

/**
 * Returns the number of admissions that each device has undone. An undo is a scan like any other, so it stays
 * known after the admission is gone.
 */
async function countUndone(db: Database, { id: eventId, shardId }: EventId) {
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
