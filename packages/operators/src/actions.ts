import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Name, oneOf, text } from '@floodgate/audit';
import { inCamelCase, type Database } from '@floodgate/database';
import { Failure, NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { revokeAccess, ROLES, SCOPES, type Role, type Scope } from './access.ts';
import { createAccessText, createPassword, hashPassword } from './secrets.ts';

const RoleName = oneOf(Object.keys(ROLES) as Role[], 'viewer, operator or owner');
const Email = Type.Union([text(3, 254), Type.Null()], { description: 'an e-mail address, or none' });
/** The name of a token begins with token: in the audit log. */
const OperatorName = Type.RegExp(/^(?!token:|partner:|device:)(?!\s)[^\p{Cc}\p{Cs}]{1,255}(?<!\s)$/u, {
  description: `${Name.description!}, without token:, partner: or device: at the start`,
});
const Scopes = Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), {
  minItems: 1,
  uniqueItems: true,
  description: `of ${SCOPES.join(', ')}`,
});

export interface Operator {
  id: number;
  name: string;
  role: Role;
  email: string | null;
  disabledAt: Date | null;
  createdAt: Date;
}

const COLUMNS = sql`id, name, role, email, disabled_at, created_at`;

async function lockOperator(db: Database, name: string) {
  const found = await sql<Operator>`
    select ${COLUMNS} from operators where name = ${name} for update`.execute(inCamelCase(db));
  if (!found.rows[0]) throw new NotFound('no such operator');
  return found.rows[0];
}

const endSessions = (db: Database, operatorId: number) =>
  sql`
    update operator_access set revoked_at = now()
    where operator_id = ${operatorId} and revoked_at is null and expires_at > now()`.execute(db);

// Spells "ownr". Otherwise two owners could lose the role at the same time.
const OWNER_LOCK = 0x6f776e72;

/** Without an owner, nobody could manage operators in the console. */
async function assertOwner(db: Database) {
  await sql`select pg_advisory_xact_lock(${OWNER_LOCK})`.execute(db);
  const { rows } =
    await sql`select from operators where role = 'owner' and disabled_at is null limit 1`.execute(db);
  if (rows.length === 0) throw new Failure('this is the last owner; make another operator the owner first');
}

/** The address decides who signs in at the identity provider. */
const audited = ({ role, email, disabledAt }: Operator) => ({ role, email, disabled: disabledAt !== null });

const TAKEN = {
  operators_name_key: 'an operator of this name already exists',
  operators_email_key: 'an operator with this e-mail address already exists',
};

/** Adds an operator with a password, which only the result contains. */
export const createOperatorAction = defineAction({
  name: 'operator.create',
  input: Type.Object({ name: OperatorName, role: RoleName, email: Type.Optional(Email) }),
  refusals: TAKEN,
  run: async (db, { name, role, email = null }, note) => {
    const password = createPassword();
    const { rows } = await sql<Operator>`
      insert into operators (name, role, email, password_hash)
      values (${name}, ${role}, lower(${email}), ${await hashPassword(password)})
      returning ${COLUMNS}`.execute(inCamelCase(db));
    note(`operator:${rows[0]!.id}`, { after: { name, ...audited(rows[0]!) } });
    return { ...rows[0]!, password };
  },
});

/** Changes the role or address of an operator. It applies to open sessions at once. */
export const updateOperatorAction = defineAction({
  name: 'operator.update',
  input: Type.Object({
    name: Name,
    role: Type.Optional(RoleName),
    email: Type.Optional(Email),
    disabled: Type.Optional(Flag),
  }),
  check: (input): Record<string, string> =>
    Object.keys(input).length === 1 ? { name: 'nothing to change; give at least one setting' } : {},
  refusals: TAKEN,
  run: async (db, { name, ...given }, note) => {
    const before = await lockOperator(db, name);
    const { role, email, disabled } = { ...audited(before), ...given };
    const { rows } = await sql<Operator>`
      update operators set role = ${role}, email = lower(${email}),
        disabled_at = ${disabled ? (before.disabledAt ?? new Date()) : null}
      where id = ${before.id} returning ${COLUMNS}`.execute(inCamelCase(db));
    const after = rows[0]!;
    if (before.role === 'owner') await assertOwner(db);
    if (after.disabledAt) await endSessions(db, before.id);
    note(`operator:${before.id}`, { before: audited(before), after: audited(after) });
    return after;
  },
});

/** Sets a new password, which only the result contains. Ends the sessions of the operator. */
export const resetPasswordAction = defineAction({
  name: 'operator.reset-password',
  input: Type.Object({ name: Name }),
  run: async (db, { name }, note) => {
    const { id } = await lockOperator(db, name);
    const password = createPassword();
    await sql`
      update operators set password_hash = ${await hashPassword(password)} where id = ${id}`.execute(db);
    await endSessions(db, id);
    note(`operator:${id}`, { after: { password: 'reset' } });
    return { name, password };
  },
});

export const signOutOperatorAction = defineAction({
  name: 'operator.sign-out',
  input: Type.Object({ name: Name }),
  run: async (db, { name }, note) => {
    const { id } = await lockOperator(db, name);
    const ended = Number((await endSessions(db, id)).numAffectedRows);
    if (ended > 0) note(`operator:${id}`, { after: { endedSessions: ended } });
    return { name, ended };
  },
});

const TEN_YEARS_MS = 3_650 * 86_400_000;
const EXPIRY_RULE = 'a time in the next ten years';

/** Issues a token to a machine. Only the result contains it. */
export const createTokenAction = defineAction({
  name: 'token.create',
  // With "token:" before it, the name fits into the audit log.
  input: Type.Object({
    name: text(1, 249),
    scopes: Scopes,
    expiresAt: Type.Date({ description: EXPIRY_RULE, option: '--expires' }),
  }),
  check: ({ expiresAt }): Record<string, string> => {
    const lifeMs = expiresAt.getTime() - Date.now();
    return lifeMs > 0 && lifeMs <= TEN_YEARS_MS ? {} : { expiresAt: EXPIRY_RULE };
  },
  run: async (db, { name, scopes, expiresAt }, note) => {
    const { text: token, id, secretHash } = createAccessText();
    await sql`
      insert into operator_access (id, secret_hash, name, scopes, expires_at)
      values (${id}, ${secretHash}, ${name}, ${scopes}::text[], ${expiresAt})`.execute(db);
    note(`access:${id}`, { after: { name, scopes, expiresAt } });
    return { id, name, scopes, expiresAt, token };
  },
});

export const revokeAccessAction = defineAction({
  name: 'access.revoke',
  input: Type.Object({
    accessId: Type.String({ pattern: '^[0-9a-f]{16}$', description: '16 of 0–9 and a–f' }),
  }),
  run: async (db, { accessId }, note) => {
    const name = await revokeAccess(db, accessId);
    if (name === undefined) throw new NotFound('no open session or token has this id');
    note(`access:${accessId}`, { before: { name }, after: { revoked: true } });
    return { id: accessId, name, state: 'revoked' as const };
  },
});

export async function listOperators(db: Database) {
  const { rows } = await sql<Operator>`
    select ${COLUMNS} from operators order by name`.execute(inCamelCase(db));
  return rows;
}

/** A session or token. */
export type OpenAccess = Record<'id' | 'kind' | 'name', string> &
  Record<'createdAt' | 'expiresAt', Date> & { scopes: Scope[] | null };

/** Returns the open sessions and tokens, newest first. */
export async function listAccess(db: Database) {
  const { rows } = await sql<OpenAccess>`
    select operator_access.id, case when operator_id is null then 'token' else 'session' end as kind,
      coalesce(operators.name, operator_access.name) as name, scopes, operator_access.created_at, expires_at
    from operator_access left join operators on operators.id = operator_id
    where revoked_at is null and expires_at > now()
    order by operator_access.created_at desc`.execute(inCamelCase(db));
  return rows;
}
