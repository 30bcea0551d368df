import { Type } from '@sinclair/typebox';
import { defineAction } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { endSessions } from './access.ts';
import { createDeviceText, hashPassword, LONGEST_PASSWORD, SHORTEST_PASSWORD } from './secrets.ts';

// An operator changes its own password. The old one is checked by the sign-in, with its limits.

const RULE =
  `${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters, no control characters, and neither the name ` +
  'nor the old password';

const NewPassword = Type.RegExp(
  new RegExp(`^[^\\p{Cc}\\p{Cs}]{${SHORTEST_PASSWORD},${LONGEST_PASSWORD}}$`, 'u'),
  { description: RULE },
);

/** The fields of the operator who changes its password. */
export const OwnPassword = Type.Object({
  oldPassword: Type.String({ maxLength: LONGEST_PASSWORD * 2, description: 'the present password' }),
  newPassword: NewPassword,
});

/** The session in which a password is changed. */
interface Session {
  accessId: string;
  operatorId: number;
  /** Of the operator. */
  name: string;
}

const folded = (text: string) => text.normalize('NFKC').toLowerCase().trim();

/** Returns the rules that a new password breaks, by field. */
export const checkPassword = (name: string, oldPassword: string, newPassword: string) =>
  [name, oldPassword].some((text) => folded(text) === folded(newPassword)) ? { newPassword: RULE } : {};

/** Returns the stored hash of the operator's password. Undefined: it has none, or is disabled. */
export async function readPasswordHash(db: Database, operatorId: number) {
  const { rows } = await sql<{ hash: string | null }>`
    select password_hash as hash from operators where id = ${operatorId} and disabled_at is null`.execute(db);
  return rows[0]?.hash ?? undefined;
}

/**
 * Returns the action that sets the password of a session's operator and ends its other sessions. The caller
 * has checked the old password against `storedHash`. Its result is the text by which the browser is known.
 * Throws Failure if somebody else has set another password meanwhile.
 */
export const changePasswordAction = ({ accessId, operatorId }: Session, storedHash: string) =>
  defineAction({
    name: 'operator.change-password',
    input: Type.Object({ newPassword: NewPassword }),
    run: async (db, { newPassword }, note) => {
      const hash = await hashPassword(newPassword);
      const { numAffectedRows } = await sql`
        update operators set password_hash = ${hash}
        where id = ${operatorId} and password_hash = ${storedHash}`.execute(db);
      if (numAffectedRows === 0n) throw new Failure('the password was changed meanwhile');
      const endedSessions = await endSessions(db, operatorId, accessId);
      note(`operator:${operatorId}`, { after: { password: 'changed', endedSessions } });
      return { endedSessions, device: createDeviceText(operatorId, hash) };
    },
  });
