import type { Database } from '@floodgate/database';
import { findShard } from '@floodgate/events';
import { readSigningKeys } from './keys.ts';
import { parsePass, verifyPass, type Pass, type PassProblem } from './token.ts';

/** What is known of a pass. */
export interface PassCheck {
  /** What the token says, true or not; null where it is none. */
  pass: Pass | null;
  /** Null: it lets its attendee in. */
  problem: PassProblem | 'unknown' | 'revoked' | null;
}

/** Checks a token against the keys, the clock of this machine, and what became of the registration. */
export async function checkPass(db: Database, token: string): Promise<PassCheck> {
  const verified = verifyPass(token, (await readSigningKeys(db)).publicKeys);
  if (typeof verified === 'string') return { pass: parsePass(token), problem: verified };
  return { pass: verified, problem: await findProblem(db, verified) };
}

async function findProblem(db: Database, { eventId, serial }: Pass) {
  const shardId = await findShard(db, eventId);
  if (shardId === undefined) return 'unknown';
  const registration = await db
    .selectFrom('registrations')
    .select('cancelled_at')
    .where('shard_id', '=', shardId)
    .where('serial', '=', serial)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  if (!registration) return 'unknown';
  return registration.cancelled_at === null ? null : 'revoked';
}
