import { inCamelCase, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { createAccessText, parseAccessText } from './secrets.ts';

/**
 * The subjects of operations. `attendees`: names, addresses and answers of people. `access`: operators,
 * sessions and tokens.
 */
const AREAS = [
  'events',
  'tickets',
  'partners',
  'registrations',
  'attendees',
  'webhooks',
  'mail',
  'passes',
  'door',
  'queue',
  'audit',
  'access',
] as const;

export type Area = (typeof AREAS)[number];

export type Scope = `${Area}:${'read' | 'write'}`;

export const SCOPES = AREAS.flatMap((area): Scope[] => [`${area}:read`, `${area}:write`]);

/** The scopes of each role of a person. A viewer sees nothing about attendees. */
export const ROLES = {
  viewer: SCOPES.filter((scope) => scope.endsWith(':read') && scope !== 'attendees:read'),
  operator: SCOPES.filter((scope) => scope !== 'access:write'),
  owner: SCOPES,
} satisfies Record<string, readonly Scope[]>;

export type Role = keyof typeof ROLES;

const SESSION_HOURS = 12;

/** The person or machine that uses the console or the operator API. */
export interface OperatorPrincipal {
  /** The id of the session or token. */
  accessId: string;
  /** As in the audit log. */
  name: string;
  /** Null: a machine. */
  role: Role | null;
  scopes: readonly Scope[];
}

export const mayUse = ({ scopes }: OperatorPrincipal, scope: Scope) => scopes.includes(scope);

/** Sessions and tokens that are neither expired nor revoked, and whose operator is not disabled. */
const OPEN = sql`
  operator_access left join operators on operators.id = operator_id
  where revoked_at is null and disabled_at is null and expires_at > now()`;

/** Returns those of these ids whose session or token is still open. */
export async function findOpenAccess(db: Database, ids: readonly string[]) {
  const { rows } = await sql<{ id: string }>`
    select operator_access.id from ${OPEN} and operator_access.id = any(${ids}::text[])`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Returns who has this session or token. Undefined: it is unknown, expired or revoked, or its operator is disabled. */
export async function findPrincipal(db: Database, text: string) {
  const parsed = parseAccessText(text);
  if (!parsed) return undefined;
  const { rows } = await sql<Omit<OperatorPrincipal, 'accessId'> & { secretHash: Buffer }>`
    select secret_hash, role, scopes, coalesce(operators.name, 'token:' || operator_access.name) as name
    from ${OPEN} and operator_access.id = ${parsed.id}`.execute(inCamelCase(db));
  if (!rows[0] || !parsed.isOf(rows[0].secretHash)) return undefined;
  const { secretHash: _, ...found } = rows[0];
  return { ...found, accessId: parsed.id, scopes: found.role ? ROLES[found.role] : found.scopes };
}

/** Opens a session of an operator. Returns its text. Deletes the operator's expired sessions. */
export async function openSession(db: Database, operatorId: number) {
  const { text, ...access } = createAccessText();
  await sql`
    delete from operator_access where operator_id = ${operatorId} and expires_at < now()`.execute(db);
  await sql`
    insert into operator_access (id, secret_hash, operator_id, expires_at)
    values (
      ${access.id}, ${access.secretHash}, ${operatorId}, now() + make_interval(hours => ${SESSION_HOURS})
    )`.execute(db);
  return text;
}

/** Returns the operator who signs in at the identity provider with this address. */
export async function findOperatorByEmail(db: Database, email: string) {
  const { rows } = await sql<{ id: number }>`
    select id from operators where lower(email) = lower(${email}) and disabled_at is null`.execute(db);
  return rows[0]?.id;
}

/** Ends a session or token at once. */
export async function revokeAccess(db: Database, accessId: string) {
  const { rows } = await sql<{ name: string }>`
    update operator_access set revoked_at = now() where id = ${accessId} and revoked_at is null
    returning coalesce(
      name, (select operators.name from operators where operators.id = operator_id)
    ) as name`.execute(db);
  return rows[0]?.name;
}
