import { inCamelCase, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { scopesOf, type EventRole, type OperatorPrincipal, type Role, type Scope } from './roles.ts';
import { createAccessText, parseAccessText } from './secrets.ts';

const SESSION_HOURS = 12;

/** Sessions and tokens that are neither expired nor revoked, and whose operator is not disabled. */
const OPEN = sql`
  operator_access left join operators on operators.id = operator_id
  where revoked_at is null and disabled_at is null and expires_at > now()`;

/** A session or token as it is stored, with the name and the roles of its operator. */
interface StoredAccess {
  id: string;
  secretHash: Buffer;
  operatorId: number | null;
  name: string;
  role: Role | null;
  eventRoles: EventRole[];
  scopes: Scope[] | null;
  eventIds: number[] | null;
  eventScopes: Scope[] | null;
}

/** Returns those of these sessions and tokens that are open. */
async function readOpen(db: Database, ids: readonly string[]) {
  const { rows } = await sql<StoredAccess>`
    select operator_access.id, secret_hash, operator_id, role, scopes, event_ids, event_scopes,
      coalesce(operators.name, 'token:' || operator_access.name) as name,
      coalesce((
        select json_agg(json_build_object('eventId', event_id, 'role', of_event.role))
        from operator_event_roles of_event where of_event.operator_id = operators.id
      ), '[]') as event_roles
    from ${OPEN} and operator_access.id = any(${ids}::text[])`.execute(inCamelCase(db));
  return rows;
}

function principalOf({ id: accessId, operatorId, name, role, ...stored }: StoredAccess): OperatorPrincipal {
  const { eventRoles, eventIds, eventScopes: ofToken } = stored;
  const eventScopes = new Map<number, readonly Scope[]>([
    ...eventRoles.map((one) => [one.eventId, scopesOf(one.role)] as const),
    ...(eventIds ?? []).map((eventId) => [eventId, ofToken ?? []] as const),
  ]);
  const scopes = operatorId === null ? (stored.scopes ?? []) : scopesOf(role);
  return { accessId, operatorId, name, role, scopes, eventScopes };
}

/** Returns the principals of those of these ids whose session or token is still open, with their roles now. */
export async function findOpenAccess(db: Database, ids: readonly string[]) {
  const open = await readOpen(db, ids);
  return new Map(open.map((access) => [access.id, principalOf(access)]));
}

/** Returns who has this session or token. Undefined: it is unknown, expired or revoked, or its operator is disabled. */
export async function findPrincipal(db: Database, text: string) {
  const parsed = parseAccessText(text);
  if (!parsed) return undefined;
  const [found] = await readOpen(db, [parsed.id]);
  return found && parsed.isOf(found.secretHash) ? principalOf(found) : undefined;
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

/** Ends the sessions of an operator, except one if `but` names it. Returns their number. */
export async function endSessions(db: Database, operatorId: number, but = '') {
  const { numAffectedRows } = await sql`
    update operator_access set revoked_at = now()
    where operator_id = ${operatorId} and id <> ${but} and revoked_at is null and expires_at > now()`.execute(
    db,
  );
  return Number(numAffectedRows);
}
