import { createHash, randomBytes } from 'node:crypto';
import { inCamelCase, type Database } from '@floodgate/database';
import { findEvent, keepInShard } from '@floodgate/events';
import { Failure, NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { assertGates } from './gates.ts';
import { isSignedBy, textOf } from './signatures.ts';

const CODE_MINUTES = 10;
/** Without characters that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE = /^(\d{1,10})-(\d{1,10})-([2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5})$/;
const TOKEN = /^fgd_(\d{1,10})_(\d{1,10})_[\w-]{43}$/;

const hash = (text: string) => createHash('sha256').update(text).digest();

const COLUMNS = [
  'id',
  'name',
  'gates',
  'version',
  'codeExpiresAt',
  'lastContactAt',
  'skewMs',
  'lastCounter',
  'received',
  'signedOffAt',
  'revokedAt',
  'lost',
  'forkedCounter',
  sql<boolean>`public_key is not null`.as('enrolled'),
] as const;

/** Returns the devices of an event. */
export const listDevices = (db: Database, shardId: number, eventId: number) =>
  inCamelCase(db)
    .selectFrom('devices')
    .select(COLUMNS)
    .where('shardId', '=', shardId)
    .where('eventId', '=', eventId)
    .orderBy('id')
    .execute();

export type Device = Awaited<ReturnType<typeof listDevices>>[number];

/** Returns a new enrolment code, and its hash, which is stored. The code names the shard and the device. */
function createCode(shardId: number, deviceId: number) {
  const secret = Array.from(randomBytes(10), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  const code = `${shardId}-${deviceId}-${secret.slice(0, 5)}-${secret.slice(5)}`;
  return { code, codeHash: hash(code), codeExpiresAt: new Date(Date.now() + CODE_MINUTES * 60_000) };
}

/** Adds a device to an event, and returns it with the code that enrols it. */
export async function createDevice(
  db: Database,
  eventId: number,
  { name, gates }: { name: string; gates: number[] },
) {
  await keepInShard(db, eventId);
  const { shardId } = await findEvent(db, eventId);
  await assertGates(db, shardId, eventId, gates);
  const { rows } = await sql<{ id: number }>`select nextval('door_ids')::integer as id`.execute(db);
  const { id } = rows[0]!;
  const { code, ...stored } = createCode(shardId, id);
  const device = inCamelCase(db)
    .insertInto('devices')
    .values({ shardId, id, eventId, name, gates, ...stored });
  return { ...(await device.returning(COLUMNS).executeTakeFirstOrThrow()), code };
}

/** Returns a device with a new code. Throws Failure if the device has used its code, or is revoked. */
export async function renewCode(db: Database, eventId: number, deviceId: number) {
  const { shardId } = await findDevice(db, eventId, deviceId);
  const { code, ...stored } = createCode(shardId, deviceId);
  const renewed = inCamelCase(db)
    .updateTable('devices')
    .set(stored)
    .where('shardId', '=', shardId)
    .where('id', '=', deviceId)
    .where('publicKey', 'is', null)
    .where('revokedAt', 'is', null);
  const device = await renewed.returning(COLUMNS).executeTakeFirst();
  if (!device) throw new Failure('the device was enrolled or revoked; create another device');
  return { ...device, code };
}

/**
 * Revokes a device, which then erases its data. A lost device never sends its last scans. Safe to repeat. Returns the device before and
 * after the change. Throws NotFound if there is no such device.
 */
export async function revokeDevice(db: Database, eventId: number, deviceId: number, lost: boolean) {
  const { shardId, device: before } = await findDevice(db, eventId, deviceId);
  const revoked = inCamelCase(db)
    .updateTable('devices')
    .set({ revokedAt: before.revokedAt ?? sql<Date>`now()`, lost: lost || before.lost, codeHash: null })
    .where('shardId', '=', shardId)
    .where('id', '=', deviceId);
  return { before, after: await revoked.returning(COLUMNS).executeTakeFirstOrThrow() };
}

async function findDevice(db: Database, eventId: number, deviceId: number) {
  const { shardId } = await findEvent(db, eventId);
  const device = (await listDevices(db, shardId, eventId)).find(({ id }) => id === deviceId);
  if (!device) throw new NotFound('no such device');
  return { shardId, device };
}

/** The request of a device that enrols. */
export interface Enrolment {
  code: string;
  /** The raw Ed25519 key, as base64url. */
  publicKey: string;
  /** Of the code and the key, by the key. */
  signature: string;
  version: string;
}

/**
 * Enrols a device, and resolves to its token. Resolves to null if the code is unknown, used or expired, or if the signature is wrong. Of two
 * concurrent calls with one code, one succeeds.
 */
export async function enrolDevice(db: Database, { code, publicKey, signature, version }: Enrolment) {
  const [, shardId, id] = CODE.exec(code) ?? [];
  const key = Buffer.from(publicKey, 'base64url');
  if (!id || !isSignedBy(key, textOf('enrol', code, publicKey), signature)) return null;
  const token = `fgd_${shardId}_${id}_${randomBytes(32).toString('base64url')}`;
  const device = await inCamelCase(db)
    .updateTable('devices')
    .set({
      publicKey: key,
      tokenHash: hash(token),
      version,
      codeHash: null,
      lastContactAt: sql<Date>`now()`,
    })
    .where('shardId', '=', Number(shardId))
    .where('id', '=', Number(id))
    .where('codeHash', '=', hash(code))
    .where('codeExpiresAt', '>', sql<Date>`now()`)
    .returning(['id', 'name', 'eventId'])
    .executeTakeFirst();
  return device ? { token, ...device } : null;
}

/** A device that sends a request. */
export interface DevicePrincipal {
  kind: 'device';
  shardId: number;
  deviceId: number;
  eventId: number;
  name: string;
  gates: number[];
  publicKey: Buffer;
  isRevoked: boolean;
}

/** Returns the device of a token, or undefined if nobody has it. */
export async function findByToken(db: Database, token: string): Promise<DevicePrincipal | undefined> {
  const [, shardId, id] = TOKEN.exec(token) ?? [];
  if (!id) return undefined;
  const found = await inCamelCase(db)
    .selectFrom('devices')
    .select(['eventId', 'name', 'gates', 'publicKey', 'revokedAt'])
    .where('shardId', '=', Number(shardId))
    .where('id', '=', Number(id))
    .where('tokenHash', '=', hash(token))
    .executeTakeFirst();
  if (!found) return undefined;
  const { revokedAt, publicKey, ...device } = found;
  const principal = { kind: 'device' as const, shardId: Number(shardId), deviceId: Number(id) };
  return { ...principal, ...device, publicKey: publicKey!, isRevoked: revokedAt !== null };
}

/** Records a contact, the highest counter that the device has named, and whether it signs off (true) or resumes (false). */
export async function noteContact(
  db: Database,
  { shardId, deviceId }: DevicePrincipal,
  counter: number,
  signsOff?: boolean,
) {
  const device = await inCamelCase(db)
    .updateTable('devices')
    .set({
      lastContactAt: sql<Date>`now()`,
      lastCounter: sql<number>`greatest(last_counter, ${counter})`,
      ...(signsOff !== undefined && { signedOffAt: signsOff ? sql<Date>`now()` : null }),
    })
    .where('shardId', '=', shardId)
    .where('id', '=', deviceId)
    .returning(['lastCounter', 'received', 'signedOffAt'])
    .executeTakeFirstOrThrow();
  return { ...device, nextCounter: await nextCounter(db, shardId, deviceId, device) };
}

/** Returns the lowest counter of a device whose scan is not stored. */
async function nextCounter(
  db: Database,
  shardId: number,
  deviceId: number,
  { lastCounter, received }: Pick<Device, 'lastCounter' | 'received'>,
) {
  if (received === lastCounter) return lastCounter + 1;
  return (await missingCounters(db, shardId, deviceId, lastCounter))[0]?.[0] ?? lastCounter + 1;
}

/** Returns the ranges of counters up to the last one whose scans are not stored, each as first and last counter. */
export async function missingCounters(db: Database, shardId: number, deviceId: number, lastCounter: number) {
  const { rows } = await sql<{ first: number; last: number }>`
    select after + 1 as first, counter - 1 as last
    from (
      select counter, lag(counter, 1, 0::bigint) over (order by counter) as after
      from (
        select counter from scans where shard_id = ${shardId} and device_id = ${deviceId}
        union all select ${lastCounter}::bigint + 1
      ) known
    ) pair
    where counter > after + 1 order by first`.execute(db);
  return rows.map(({ first, last }): [number, number] => [first, last]);
}
