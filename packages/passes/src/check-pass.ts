import type { Database, Mode } from '@floodgate/database';
import { readSigningKeys } from './keys.ts';
import { validityOf } from './documents.ts';
import { parsePass, verifyPass, type Pass, type PassProblem } from './token.ts';

/** The result of a check. */
export interface PassCheck {
  /** The content of the token, even if its signature is wrong; null if the text is not a token. */
  pass: Pass | null;
  /** The mode of the event, and when its passes are valid now. Null: the token is not ours, or its event is unknown. */
  event: { mode: Mode; validFrom: string | null; validUntil: string | null } | null;
  /** Null: the pass admits its attendee now. */
  problem: PassProblem | 'unknown' | 'revoked' | 'not-yet-valid' | 'expired' | null;
}

/** Checks a token against the keys, the current times of its event and the state of its registration. */
export async function checkPass(db: Database, token: string, now = new Date()): Promise<PassCheck> {
  const pass = verifyPass(token, (await readSigningKeys(db)).publicKeys);
  if (typeof pass === 'string') return { pass: parsePass(token), event: null, problem: pass };
  const found = await findEvent(db, pass.eventId);
  if (!found) return { pass, event: null, problem: 'unknown' };
  const { shardId, mode, ...times } = found;
  const event = { mode, ...validityOf(times) };
  const problem = timeProblem(event, now) ?? (await registrationProblem(db, shardId, pass));
  return { pass, event, problem };
}

function findEvent(db: Database, eventId: number) {
  const columns = ['shard_id as shardId', 'mode', 'starts_at as startsAt', 'ends_at as endsAt'] as const;
  return db.selectFrom('events').select(columns).where('id', '=', eventId).executeTakeFirst();
}

function timeProblem({ validFrom, validUntil }: NonNullable<PassCheck['event']>, now: Date) {
  if (validFrom && now < new Date(validFrom)) return 'not-yet-valid';
  return validUntil && now > new Date(validUntil) ? 'expired' : null;
}

async function registrationProblem(db: Database, shardId: number, { eventId, serial }: Pass) {
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
