import type { Database } from '@floodgate/database';
import { validityOf } from './documents.ts';
import { createPassSigner } from './keys.ts';
import { parsePass, verifyPass } from './token.ts';

/** The result of a check. */
export type PassCheck = Awaited<ReturnType<typeof checkPass>>;

/**
 * Checks a token against the keys, the current times of its event and the state of its registration. Resolves to the content of the token,
 * even if its signature is wrong (null: the text is not a token), to the mode of the event and when its passes are valid now (null: the
 * token is not ours, or its event is unknown), and to the problem. Without a problem the pass admits its attendee now.
 */
export async function checkPass(db: Database, token: string, now = new Date()) {
  const pass = verifyPass(token, (await createPassSigner({ db }).keys()).publicKeys);
  if (typeof pass === 'string') return { pass: parsePass(token), event: null, problem: pass };
  const found = await db
    .selectFrom('events')
    .select(['shard_id as shardId', 'mode', 'starts_at as startsAt', 'ends_at as endsAt'])
    .where('id', '=', pass.eventId)
    .executeTakeFirst();
  if (!found) return { pass, event: null, problem: 'unknown' as const };
  const event = { mode: found.mode, ...validityOf(found) };
  const registration = await db
    .selectFrom('registrations')
    .select('cancelled_at')
    .where('shard_id', '=', found.shardId)
    .where('serial', '=', pass.serial)
    .where('event_id', '=', pass.eventId)
    .executeTakeFirst();
  return { pass, event, problem: problemOf(event, registration, now) };
}

function problemOf(
  { validFrom, validUntil }: ReturnType<typeof validityOf>,
  registration: { cancelled_at: Date | null } | undefined,
  now: Date,
) {
  if (validFrom && now < new Date(validFrom)) return 'not-yet-valid';
  if (validUntil && now > new Date(validUntil)) return 'expired';
  if (!registration) return 'unknown';
  return registration.cancelled_at && 'revoked';
}
