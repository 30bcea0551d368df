import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { inCamelCase, type Database } from '@floodgate/database';
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { sql } from 'kysely';

const INTERVAL_MS = 1_000;
/** A process whose facts do not change reports every 8 s. One that has not reported for this long is gone. */
const GONE_AFTER_S = 20;

/** The facts of the services, as others read them. Unknown facts are dropped: another release can have others. */
const Facts = Type.Object({
  /** API: requests that it refused since its start, by response code. */
  refused: Type.Optional(Type.Record(Type.String({ pattern: '^\\d\\d$' }), Type.Number({ minimum: 0 }))),
  /** API: calls that wait to register. */
  waiting: Type.Optional(Type.Number({ minimum: 0 })),
  /** Worker. */
  queue: Type.Optional(Type.Union([Type.Literal('up'), Type.Literal('down')])),
  /** Delivery: the kinds that it sends. */
  deliveries: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10 })),
});

/** A running process. */
export type RunningProcess = Record<'id' | 'service' | 'version' | 'host', string> &
  Record<'startedAt' | 'seenAt', Date> & { facts: Static<typeof Facts> };

/** Every service may write its report, so the facts of a service that was taken over can be anything. */
function parseFacts(facts: unknown): Static<typeof Facts> {
  const known = Value.Clean(Facts, facts);
  return Value.Check(Facts, known) ? known : {};
}

/**
 * Returns the task that reports this process, so that the console shows it. `read` must be cheap and return
 * no attendee data.
 */
export function reportProcess(
  db: Database,
  { service, version }: Record<'service' | 'version', string>,
  read: () => object,
) {
  const id = randomUUID();
  let last = '';
  return {
    name: 'process report',
    intervalMs: INTERVAL_MS,
    run: async () => {
      const facts = JSON.stringify(read());
      await sql`
        insert into processes (id, service, version, host, facts)
        values (${id}, ${service}, ${version}, ${hostname()}, ${facts}::jsonb)
        on conflict (id) do update set facts = excluded.facts, seen_at = excluded.seen_at`.execute(db);
      const isIdle = facts === last;
      if (last === '')
        await sql`
          delete from processes where seen_at < now() - make_interval(secs => ${GONE_AFTER_S})`.execute(db);
      last = facts;
      return isIdle ? 'idle' : 'done';
    },
  };
}

/** Returns the running processes. */
export async function listProcesses(db: Database): Promise<RunningProcess[]> {
  // The counts of partners are large, and have a reader of their own.
  const { rows } = await sql<RunningProcess>`
    select id, service, version, host, started_at, seen_at,
      case when jsonb_typeof(facts) = 'object' then facts - 'refusedOf' else '{}' end as facts
    from processes
    where seen_at > now() - make_interval(secs => ${GONE_AFTER_S})
    order by service, started_at`.execute(inCamelCase(db));
  return rows.map((row) => ({ ...row, facts: parseFacts(row.facts) }));
}

/** Refusals by partner and response code. */
const RefusedOf = Type.Record(
  Type.String({ pattern: '^[1-9]\\d{0,9}$' }),
  Type.Record(Type.String({ pattern: '^\\d\\d$' }), Type.Integer({ minimum: 1 })),
);

/** How often requests of a partner got a response code in the last hour. */
export interface PartnerRefusals {
  partnerId: number;
  code: string;
  refusals: number;
}

/**
 * Returns the refusals of all partners or of one in the last hour, the most frequent first, from all running
 * API processes. A process forgets its counts when it ends.
 */
export async function listPartnerRefusals(db: Database, ofPartner?: number): Promise<PartnerRefusals[]> {
  const { rows } = await sql<{ refusedOf: unknown }>`
    select facts->'refusedOf' as "refusedOf" from processes
    where service = 'api' and seen_at > now() - make_interval(secs => ${GONE_AFTER_S})`.execute(db);
  const sums = new Map<string, PartnerRefusals>();
  for (const { refusedOf } of rows) {
    if (!Value.Check(RefusedOf, refusedOf)) continue;
    for (const [partner, codes] of Object.entries(refusedOf))
      for (const [code, refusals] of Object.entries(codes)) {
        const partnerId = Number(partner);
        if (ofPartner !== undefined && partnerId !== ofPartner) continue;
        const sum = sums.getOrInsertComputed(`${partner} ${code}`, () => ({ partnerId, code, refusals: 0 }));
        sum.refusals += refusals;
      }
  }
  return [...sums.values()].toSorted((one, other) => other.refusals - one.refusals);
}
