import type { Database, Mode } from '@floodgate/database';
import { readSigningKeys } from './keys.ts';
import { parsePass, verifyPass, type Pass, type PassProblem } from './token.ts';

/** What is known of a pass. */
export interface PassCheck {
  /** What the token says, true or not; null where it is none. */
  pass: Pass | null;
  /** Of the event. Null: the token is not ours, or its event is unknown. */
  mode: Mode | null;
  /** Null: it lets its attendee in. */
  problem: PassProblem | 'unknown' | 'revoked' | null;
}

/** Checks a token against the keys, the clock of this machine, and what became of the registration. */
export async function checkPass(db: Database, token: string): Promise<PassCheck> {
  const verified = verifyPass(token, (await readSigningKeys(db)).publicKeys);
  const pass = typeof verified === 'string' ? parsePass(token) : verified;
  const isSigned = !NOT_OURS.has(verified);
  const event = isSigned ? await findEvent(db, pass!.eventId) : undefined;
  const mode = event?.mode ?? null;
  if (typeof verified === 'string') return { pass, mode, problem: verified };
  return { pass, mode, problem: event ? await findProblem(db, event.shardId, verified) : 'unknown' };
}

/** A token of which nothing is proven, not even its event. */
const NOT_OURS: ReadonlySet<unknown> = new Set<PassProblem>(['malformed', 'unknown-key', 'forged']);

function findEvent(db: Database, eventId: number) {
  const event = db.selectFrom('events').select(['shard_id as shardId', 'mode']);
  return event.where('id', '=', eventId).executeTakeFirst();
}

async function findProblem(db: Database, shardId: number, { eventId, serial }: Pass) {
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
