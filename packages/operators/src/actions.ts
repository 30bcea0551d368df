import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Name, oneOf, text } from '@floodgate/audit';
import { inCamelCase, type Database } from '@floodgate/database';
import { Failure, NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { endSessions } from './access.ts';
import { ROLE_NAMES, type EventRole, type Role } from './roles.ts';
import { createPassword, hashPassword } from './secrets.ts';

const ROLE_RULE = 'viewer, door-manager, operator or owner';
export const RoleName = oneOf(ROLE_NAMES, ROLE_RULE);
/** For all events. An operator without it has roles for named events only. */
const RoleOrNone = Type.Union([...ROLE_NAMES.map((role) => Type.Literal(role)), Type.Null()], {
  description: `${ROLE_RULE}, for all events; none: for named events only`,
});
const Email = Type.Union([text(3, 254), Type.Null()], { description: 'an e-mail address, or none' });
/** The name of a token begins with token: in the audit log. */
const OperatorName = Type.RegExp(/^(?!token:|partner:|device:)(?!\s)[^\p{Cc}\p{Cs}]{1,255}(?<!\s)$/u, {
  description: `${Name.description!}, without token:, partner: or device: at the start`,
});
export interface Operator {
  id: number;
  name: string;
  /** For all events. Null: none. */
  role: Role | null;
  email: string | null;
  disabledAt: Date | null;
  createdAt: Date;
}

/** An operator with its roles for named events. */
export interface ListedOperator extends Operator {
  eventRoles: EventRole[];
}

const COLUMNS = sql`id, name, role, email, disabled_at, created_at`;

/** Returns an operator, which stays the same until the transaction ends. Throws NotFound if there is none. */
export async function lockOperator(db: Database, name: string) {
  const found = await sql<Operator>`
    select ${COLUMNS} from operators where name = ${name} for update`.execute(inCamelCase(db));
  if (!found.rows[0]) throw new NotFound('no such operator');
  return found.rows[0];
}

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
  input: Type.Object({ name: OperatorName, role: RoleOrNone, email: Type.Optional(Email) }),
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
    role: Type.Optional(RoleOrNone),
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
    const ended = await endSessions(db, id);
    if (ended > 0) note(`operator:${id}`, { after: { endedSessions: ended } });
    return { name, ended };
  },
});

const selectOperators = sql`
  select ${COLUMNS}, coalesce((
    select json_agg(json_build_object('eventId', event_id, 'role', of_event.role) order by event_id)
    from operator_event_roles of_event where operator_id = operators.id
  ), '[]') as event_roles
  from operators`;

export async function listOperators(db: Database) {
  const { rows } = await sql<ListedOperator>`${selectOperators} order by name`.execute(inCamelCase(db));
  return rows;
}

/** Returns an operator with its roles. Throws NotFound if there is none of this name. */
export async function findOperator(db: Database, name: string) {
  const { rows } = await sql<ListedOperator>`${selectOperators} where name = ${name}`.execute(
    inCamelCase(db),
  );
  if (!rows[0]) throw new NotFound('no such operator');
  return rows[0];
}
