import { Type } from '@sinclair/typebox';
import { defineAction, Id, text } from '@floodgate/audit';
import { inCamelCase, type Database } from '@floodgate/database';
import { NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { revokeAccess } from './access.ts';
import { assertEvents } from './event-roles.ts';
import { SCOPES, type Scope } from './roles.ts';
import { createAccessText } from './secrets.ts';

const Scopes = Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), {
  minItems: 1,
  uniqueItems: true,
  description: `of ${SCOPES.join(', ')}`,
});

const TEN_YEARS_MS = 3_650 * 86_400_000;
const EXPIRY_RULE = 'a time in the next ten years';

/** No token is for more events: each request reads them. */
const MOST_EVENTS = 1_000;

/** Issues a token to a machine. Only the result contains it. */
export const createTokenAction = defineAction({
  name: 'token.create',
  // With "token:" before it, the name fits into the audit log.
  input: Type.Object({
    name: text(1, 249),
    scopes: Scopes,
    expiresAt: Type.Date({ description: EXPIRY_RULE, option: '--expires' }),
    /** Absent: for all events, and for what belongs to no event. */
    eventIds: Type.Optional(
      Type.Array(Id, {
        minItems: 1,
        maxItems: MOST_EVENTS,
        uniqueItems: true,
        description: `the ids of 1 to ${MOST_EVENTS} events, or nothing for all`,
        option: '--events',
      }),
    ),
  }),
  check: ({ expiresAt }): Record<string, string> => {
    const lifeMs = expiresAt.getTime() - Date.now();
    return lifeMs > 0 && lifeMs <= TEN_YEARS_MS ? {} : { expiresAt: EXPIRY_RULE };
  },
  run: async (db, { name, scopes, expiresAt, eventIds = null }, note) => {
    if (eventIds) await assertEvents(db, eventIds);
    const { text: token, id, secretHash } = createAccessText();
    const [ofAll, ofEvents] = eventIds ? [[], scopes] : [scopes, null];
    await sql`
      insert into operator_access (id, secret_hash, name, scopes, event_ids, event_scopes, expires_at)
      values (
        ${id}, ${secretHash}, ${name}, ${ofAll}::text[], ${eventIds}::integer[], ${ofEvents}::text[],
        ${expiresAt}
      )`.execute(db);
    note(`access:${id}`, { after: { name, scopes, eventIds, expiresAt } });
    return { id, name, scopes, eventIds, expiresAt, token };
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

/** A session or token. */
export type OpenAccess = Record<'id' | 'kind' | 'name', string> &
  Record<'createdAt' | 'expiresAt', Date> & { scopes: Scope[] | null; eventIds: number[] | null };

/** Returns the open sessions and tokens, newest first. */
export async function listAccess(db: Database) {
  const { rows } = await sql<OpenAccess>`
    select operator_access.id, case when operator_id is null then 'token' else 'session' end as kind,
      coalesce(operators.name, operator_access.name) as name, coalesce(event_scopes, scopes) as scopes,
      event_ids, operator_access.created_at, expires_at
    from operator_access left join operators on operators.id = operator_id
    where revoked_at is null and expires_at > now()
    order by operator_access.created_at desc`.execute(inCamelCase(db));
  return rows;
}
