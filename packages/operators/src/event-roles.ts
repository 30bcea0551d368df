import { Type } from '@sinclair/typebox';
import { defineAction, Id, Name } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { inCamelCase, type Database } from '@floodgate/database';
import { NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { lockOperator, RoleName } from './actions.ts';
import type { Role } from './roles.ts';

// The roles of operators for named events. The owner of an event gives and takes its roles.

/** Throws NotFound if one of these events does not exist. */
export async function assertEvents(db: Database, eventIds: readonly number[]) {
  const { rows } = await sql<{ id: number }>`
    select id from events where id = any(${eventIds}::integer[])`.execute(db);
  const found = new Set(rows.map(({ id }) => id));
  const missing = eventIds.find((id) => !found.has(id));
  if (missing === undefined) return;
  throw new NotFound(eventIds.length > 1 ? `no such event: ${missing}` : 'no such event');
}

/** Removes the role of an operator for an event. Returns it, or null if there was none. */
async function takeRole(db: Database, operatorId: number, eventId: number) {
  const { rows } = await sql<{ role: Role }>`
    delete from operator_event_roles where operator_id = ${operatorId} and event_id = ${eventId}
    returning role`.execute(db);
  return rows[0]?.role ?? null;
}

/** Gives an operator a role for one event, in place of the one it had. It applies to open sessions at once. */
export const grantOperatorAction = defineAction({
  name: 'operator.grant',
  input: Type.Object({ name: Name, eventId: typedAs('--event', Id), role: RoleName }),
  run: async (db, { name, eventId, role }, note) => {
    await assertEvents(db, [eventId]);
    const { id } = await lockOperator(db, name);
    const before = await takeRole(db, id, eventId);
    await sql`
      insert into operator_event_roles (operator_id, event_id, role)
      values (${id}, ${eventId}, ${role})`.execute(db);
    if (before !== role)
      note(`operator:${id}`, {
        before: before && { event: eventId, role: before },
        after: { event: eventId, role },
      });
    return { name, eventId, role };
  },
});

/** Takes the role of an operator for one event. Its role for all events stays. */
export const revokeOperatorAction = defineAction({
  name: 'operator.revoke',
  input: Type.Object({ name: Name, eventId: typedAs('--event', Id) }),
  run: async (db, { name, eventId }, note) => {
    const { id } = await lockOperator(db, name);
    const role = await takeRole(db, id, eventId);
    if (role === null) throw new NotFound('this operator has no role for this event');
    note(`operator:${id}`, { before: { event: eventId, role }, after: { event: eventId, role: null } });
    return { name, eventId, role: null };
  },
});

/** Returns the operators with a role for this event. Those with a role for all events are not among them. */
export async function listOperatorsOf(db: Database, eventId: number) {
  const { rows } = await sql<{ name: string; role: Role; disabledAt: Date | null }>`
    select name, of_event.role, disabled_at
    from operator_event_roles of_event join operators on operators.id = operator_id
    where event_id = ${eventId} order by name`.execute(inCamelCase(db));
  return rows;
}
