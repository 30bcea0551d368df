import { batchLoader, plainArray, type Database } from '@floodgate/database';
import { systemClock } from '@floodgate/service/clock';
import { sql } from 'kysely';
import { createToken, digest, NOW, parseCode, updateDevice } from './devices.ts';
import { isSignedBy, textOf } from './signatures.ts';
import type { EnrolRequest } from './wire.ts';

/** Enrolments that wait for their look-up. Further ones are answered 90. */
const WAITING_LIMIT = 500;
/**
 * After a look-up that found a wrong code, the next one waits. So anybody who tries codes causes ten
 * statements a second, and no more.
 */
const PAUSE_MS = 100;

/** A device that has a code. */
interface CodedDevice {
  eventId: number;
  name: string;
  /** Null: not enrolled yet. */
  publicKey: Buffer | null;
  isExpired: boolean;
}

/** A device that has enrolled. */
interface Enrolled {
  /** It is shown once and stored nowhere. */
  token: string;
  id: number;
  name: string;
  eventId: number;
}

export type Enrol = (request: EnrolRequest) => Promise<Enrolled | null>;

/**
 * Returns a function that enrols a device, and resolves to its token. It resolves to null if the code is
 * unknown, used or expired, or if the signature is wrong. Of two concurrent calls with one code, one
 * succeeds. A repetition with the same key, after a lost answer, succeeds and has another token: it is the
 * same device.
 *
 * Anybody can call it. So codes are looked up together before a signature is checked, and `db` has no other
 * users.
 */
export function createEnrolment(db: Database, clock = systemClock): Enrol {
  let hadWrong = false;
  const pause = () => new Promise<void>((resolve) => clock.setTimeout(resolve, PAUSE_MS));
  const find = batchLoader(
    async (codes: string[]) => {
      if (hadWrong) await pause();
      const devices = await findCodes(db, codes);
      hadWrong = devices.includes(undefined);
      return devices;
    },
    { waitingLimit: WAITING_LIMIT },
  );
  return async function enrol({ code, publicKey, signature, version }) {
    const parts = parseCode(code);
    const device = parts && (await find(code));
    if (!device) return null;
    const key = Buffer.from(publicKey, 'base64url');
    const isSame = device.publicKey?.equals(key) ?? !device.isExpired;
    if (!isSame || !isSignedBy(key, textOf('enrol', code, publicKey), signature)) return null;
    const { shardId, id } = parts;
    const { token, tokenHash } = createToken(parts);
    const enrolled = await updateDevice(db, shardId, id)
      .set({ publicKey: key, tokenHash, version, lastContactAt: NOW })
      .where('codeHash', '=', digest(code))
      .where((where) =>
        where.or([
          where('publicKey', '=', key),
          where.and([where('publicKey', 'is', null), where('codeExpiresAt', '>', NOW)]),
        ]),
      )
      .returning('id')
      .executeTakeFirst();
    return enrolled ? { token, id, name: device.name, eventId: device.eventId } : null;
  };
}

/**
 * Resolves to the device of each code, in order. Undefined: no device has this code, or it was used, or its
 * device was revoked.
 */
async function findCodes(db: Database, codes: readonly string[]): Promise<(CodedDevice | undefined)[]> {
  const parts = codes.map((code) => parseCode(code)!);
  const hashes = codes.map((code) => digest(code).toString('hex'));
  const { rows } = await sql<CodedDevice & { position: number }>`
    select query.position, d.event_id as "eventId", d.name, d.public_key as "publicKey",
      d.code_expires_at <= now() as "isExpired"
    from unnest(
      ${plainArray(parts.map(({ shardId }) => shardId))}::integer[],
      ${plainArray(parts.map(({ id }) => id))}::integer[],
      ${plainArray(hashes)}::text[]
    ) with ordinality as query (shard_id, id, hash, position)
    join devices d on d.shard_id = query.shard_id and d.id = query.id
      and d.code_hash = decode(query.hash, 'hex')`.execute(db);
  const byPosition = new Map(rows.map(({ position, ...row }) => [position, row]));
  return codes.map((_, index) => byPosition.get(index + 1));
}
