import { hash, randomBytes } from 'node:crypto';
import { inCamelCase, plainArray, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import type { EventId } from './gates.ts';

const CODE_MINUTES = 10;
/** Without characters that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE = /^(\d{1,10})-(\d{1,10})-([2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5})$/;
const TOKEN = /^fgd_(\d{1,10})_(\d{1,10})_[\w-]{43}$/;

const INT4_MAX = 2_147_483_647;

export const NOW = sql<Date>`now()`;
export const digest = (text: string) => hash('sha256', text, 'buffer');

/** Returns the shard and the device that a code or a token names, or null if no device can have it. */
function idsIn(form: RegExp, text: string) {
  const [, ...numbers] = form.exec(text) ?? [];
  const [shardId, id] = numbers.map(Number);
  return shardId !== undefined && id !== undefined && Math.max(shardId, id) <= INT4_MAX
    ? { shardId, id }
    : null;
}

export const parseCode = (code: string) => idsIn(CODE, code);
export const parseToken = (token: string) => idsIn(TOKEN, token);

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
export const listDevices = (db: Database, { shardId, id: eventId }: EventId): Promise<Device[]> =>
  inCamelCase(db)
    .selectFrom('devices')
    .select(COLUMNS)
    .where(({ and }) => and({ shardId, eventId }))
    .orderBy('id')
    .execute();

/** A device of an event. */
export interface Device {
  id: number;
  name: string;
  gates: number[];
  /** Of the scanner that it runs; null: it is not enrolled. */
  version: string | null;
  codeExpiresAt: Date;
  lastContactAt: Date | null;
  /** How far its clock is ahead of the server's. */
  skewMs: number;
  /** The highest counter that it has named. */
  lastCounter: number;
  /** Number of its scans that are stored. */
  received: number;
  /** When it promised that no scan follows. */
  signedOffAt: Date | null;
  revokedAt: Date | null;
  lost: boolean;
  /** A counter of two different scans. */
  forkedCounter: number | null;
  enrolled: boolean;
}

/** Returns a new enrolment code, and its hash, which is stored. The code names the shard and the device. */
export function createCode(shardId: number, deviceId: number) {
  const secret = Array.from(randomBytes(10), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  const code = `${shardId}-${deviceId}-${secret.slice(0, 5)}-${secret.slice(5)}`;
  return { code, codeHash: digest(code), codeExpiresAt: new Date(Date.now() + CODE_MINUTES * 60_000) };
}

/** Returns a new token of a device, and its hash, which is stored. */
export function createToken({ shardId, id }: { shardId: number; id: number }) {
  const token = `fgd_${shardId}_${id}_${randomBytes(32).toString('base64url')}`;
  return { token, tokenHash: digest(token) };
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
 * Resolves to the device of each token, in order. Undefined: nobody has the token. The tokens have the right
 * form.
 */
export async function findByTokens(
  db: Database,
  tokens: readonly string[],
): Promise<(DevicePrincipal | undefined)[]> {
  const ids = tokens.map((token) => parseToken(token)!);
  const hashes = tokens.map((token) => digest(token).toString('hex'));
  const { rows } = await sql<DevicePrincipal & { position: number }>`
    select query.position, d.shard_id as "shardId", d.id as "deviceId", d.event_id as "eventId", d.name, d.gates,
      d.public_key as "publicKey", d.revoked_at as "revokedAt"
    from unnest(
      ${plainArray(ids.map(({ shardId }) => shardId))}::integer[],
      ${plainArray(ids.map(({ id }) => id))}::integer[],
      ${plainArray(hashes)}::text[]
    ) with ordinality as query (shard_id, id, hash, position)
    join devices d on d.shard_id = query.shard_id and d.id = query.id
      and d.token_hash = decode(query.hash, 'hex')`.execute(db);
  const byPosition = new Map(rows.map(({ position, ...row }) => [position, row]));
  return tokens.map((_, index) => byPosition.get(index + 1));
}

/** A device that sends a request. */
export interface DevicePrincipal {
  shardId: number;
  deviceId: number;
  eventId: number;
  name: string;
  gates: number[];
  publicKey: Buffer;
  revokedAt: Date | null;
}

/**
 * Records a contact, the highest counter that the device has named, and whether it signs off (true) or
 * resumes (false).
 */
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

/**
 * Returns the ranges of counters up to the last one whose scans are not stored, each as first and last
 * counter.
 */
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
