import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import {
  createOperatorAction,
  createTokenAction,
  openSession,
  type Role,
  type Scope,
} from '@floodgate/operators';
import { keepPrivate } from './private-data.ts';

const uniqueName = (kind: string) => `${kind} ${randomUUID().slice(0, 8)}`;

/** Adds an operator. Returns the name, the password, and the cookie of an open session. */
export async function addOperator(db: Database, role: Role) {
  const name = uniqueName(role);
  const { id, password } = await perform(db, createOperatorAction, { name, role }, 'test');
  const session = await openSession(db, id);
  keepPrivate([password, session]);
  return { id, name, password, session, cookie: `floodgate_session=${session}` };
}

/** Issues a token with these scopes. */
export async function addToken(db: Database, ...scopes: Scope[]): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { token } = await perform(
    db,
    createTokenAction,
    { name: uniqueName('token'), scopes, expiresAt },
    'test',
  );
  keepPrivate([token]);
  return token;
}
