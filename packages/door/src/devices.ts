import { hash, randomBytes } from 'node:crypto';
import { inCamelCase, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { NotFound } from '@floodgate/service/failure';
import { sql, type NotNull } from 'kysely';
import type { EventId } from './gates.ts';
import { isSignedBy, textOf } from './signatures.ts';
import type { EnrolRequest } from './wire.ts';

const CODE_MINUTES = 10;
/** Without characters that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE = /^(\d{1,10})-(\d{1,10})-([2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5})$/;
const TOKEN = /^fgd_(\d{1,10})_(\d{1,10})_[\w-]{43}$/;

const NOW = sql<Date>`now()`;
const digest = (text: string) => hash('sha256', text, 'buffer');

export const COLUMNS = [
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
export const listDevices = (db: Database, { shardId, id: eventId }: EventId) =>
  inCamelCase(db)
    .selectFrom('devices')
    .select(COLUMNS)
    .where(({ and }) => and({ shardId, eventId }))
    .orderBy('id')
    .execute();

export type Device = Awaited<ReturnType<typeof listDevices>>[number];

/** Returns a new enrolment code, and its hash, which is stored. The code names the shard and the device. */
export function createCode(shardId: number, deviceId: number) {
  const secret = Array.from(randomBytes(10), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  const code = `${shardId}-${deviceId}-${secret.slice(0, 5)}-${secret.slice(5)}`;
  return { code, codeHash: digest(code), codeExpiresAt: new Date(Date.now() + CODE_MINUTES * 60_000) };
}

/** Returns a device of an event, with its shard. Throws NotFound if there is no such device. */
export async function findDevice(db: Database, eventId: number, deviceId: number) {
  const event = await findEvent(db, eventId);
  const device = (await listDevices(db, event)).find(({ id }) => id === deviceId);
  if (!device) throw new NotFound('no such device');
  return { shardId: event.shardId, device };
}

/** Starts the change of a device. */
export const updateDevice = (db: Database, shardId: number, id: number) =>
  inCamelCase(db)
    .updateTable('devices')
    .where(({ and }) => and({ shardId, id }));

/**
 * Enrols a device, and resolves to its token. Resolves to null if the code is unknown, used or expired, or if the signature is wrong. Of two
 * concurrent calls with one code, one succeeds.
 */
export async function enrolDevice(db: Database, { code, publicKey, signature, version }: EnrolRequest) {
  const [, shardId, id] = CODE.exec(code) ?? [];
  const key = Buffer.from(publicKey, 'base64url');
  if (!id || !isSignedBy(key, textOf('enrol', code, publicKey), signature)) return null;
  const token = `fgd_${shardId}_${id}_${randomBytes(32).toString('base64url')}`;
  const device = await updateDevice(db, Number(shardId), Number(id))
    .set({ publicKey: key, tokenHash: digest(token), version, codeHash: null, lastContactAt: NOW })
    .where('codeHash', '=', digest(code))
    .where('codeExpiresAt', '>', NOW)
    .returning(['id', 'name', 'eventId'])
    .executeTakeFirst();
  return device ? { token, ...device } : null;
}

/** Returns the device of a token, or undefined if nobody has it. */
export async function findByToken(db: Database, token: string) {
  const [, shardId, id] = TOKEN.exec(token) ?? [];
  if (!id) return undefined;
  return inCamelCase(db)
    .selectFrom('devices')
    .select(['shardId', 'id as deviceId', 'eventId', 'name', 'gates', 'publicKey', 'revokedAt'])
    .where(({ and }) => and({ shardId: Number(shardId), id: Number(id), tokenHash: digest(token) }))
    .$narrowType<{ publicKey: NotNull }>()
    .executeTakeFirst();
}

/** A device that sends a request. */
export type DevicePrincipal = NonNullable<Awaited<ReturnType<typeof findByToken>>>;

/** Records a contact, the highest counter that the device has named, and whether it signs off (true) or resumes (false). */
export async function noteContact(
  db: Database,
  { shardId, deviceId }: DevicePrincipal,
  counter: number,
  signsOff?: boolean,
) {
  const device = await updateDevice(db, shardId, deviceId)
    .set({
      lastContactAt: NOW,
      lastCounter: sql<number>`greatest(last_counter, ${counter})`,
      ...(signsOff !== undefined && { signedOffAt: signsOff ? NOW : null }),
    })
    .returning(['id', 'lastCounter', 'received', 'signedOffAt'])
    .executeTakeFirstOrThrow();
  const [gap] = await missingCounters(db, shardId, device);
  // The lowest counter whose scan is not stored.
  return { ...device, nextCounter: gap?.[0] ?? device.lastCounter + 1 };
}

/** Returns the ranges of counters up to the last one whose scans are not stored, each as first and last counter. */
export async function missingCounters(
  db: Database,
  shardId: number,
  { id, lastCounter, received }: Pick<Device, 'id' | 'lastCounter' | 'received'>,
) {
  if (received === lastCounter) return [];
  const { rows } = await sql<{ first: number; last: number }>`
    select after + 1 as first, counter - 1 as last
    from (
      select counter, lag(counter, 1, 0::bigint) over (order by counter) as after
      from (
        select counter from scans where shard_id = ${shardId} and device_id = ${id}
        union all select ${lastCounter}::bigint + 1
      ) known
    ) pair
    where counter > after + 1 order by first`.execute(db);
  return rows.map(({ first, last }): [number, number] => [first, last]);
}
