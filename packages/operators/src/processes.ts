import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { inCamelCase, type Database } from '@floodgate/database';
import { sql } from 'kysely';

const INTERVAL_MS = 1_000;
/** A process whose facts do not change reports every 8 s. One that has not reported for this long is gone. */
const GONE_AFTER_S = 20;

/** Returns the task that reports this process, so that the console shows it. `read` must be cheap and return no attendee data. */
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
export async function listProcesses(db: Database) {
  const { rows } = await sql`
    select id, service, version, host, started_at, seen_at, facts from processes
    where seen_at > now() - make_interval(secs => ${GONE_AFTER_S})
    order by service, started_at`.execute(inCamelCase(db));
  return rows;
}
