import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import {
  createTokenAction,
  grantOperatorAction,
  openSession,
  type Role,
  type Scope,
} from '@floodgate/operators';
import { sql } from 'kysely';
import { keepPrivate } from './private-data.ts';

const uniqueName = (kind: string) => `${kind} ${randomUUID().slice(0, 8)}`;

// To hash a password takes a third of a second of a core, so all operators of tests have the same one.
const PASSWORD = 'thhis5qebfuc67skbhq';
const PASSWORD_HASH =
  '72243875606a63aec2f92aff85176886$dabd65095f039d38a981d2f14ee63f319a77d0492d26945e65e4c2526a68a31d';

/**
 * Adds an operator with a role for all events, if any, and roles for named events, by their ids. Returns the
 * name, the password, and the cookie of an open session.
 */
export async function addOperator(db: Database, role: Role | null, eventRoles: Record<number, Role> = {}) {
  const name = uniqueName(role ?? 'limited');
  const { rows } = await sql<{ id: number }>`
    insert into operators (name, role, password_hash) values (${name}, ${role}, ${PASSWORD_HASH}) returning id`.execute(
    db,
  );
  const { id } = rows[0]!;
  for (const [eventId, ofEvent] of Object.entries(eventRoles))
    await perform(db, grantOperatorAction, { name, eventId: Number(eventId), role: ofEvent }, 'test');
  const session = await openSession(db, id);
  keepPrivate([PASSWORD, session]);
  return { id, name, password: PASSWORD, session, cookie: `floodgate_session=${session}` };
}

/** Issues a token with these scopes, for all events or for these. */
export async function addToken(db: Database, scopes: Scope[], eventIds?: number[]): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { token } = await perform(
    db,
    createTokenAction,
    { name: uniqueName('token'), scopes, expiresAt, ...(eventIds && { eventIds }) },
    'test',
  );
  keepPrivate([token]);
  return token;
}
