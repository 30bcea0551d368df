import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { inCamelCase, type Database } from '@floodgate/database';
import { systemClock } from '@floodgate/service/clock';
import { withDeadline } from '@floodgate/service/deadline';
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { sql } from 'kysely';
import { found, type Finding } from './findings.ts';

const INTERVAL_MS = 1_000;
/** A process whose facts do not change reports at this interval. */
const IDLE_MS = 3_000;
/** A process that has not reported for this long is late: it has died, hangs, or does not reach Postgres. */
const LATE_AFTER_S = 7;
/** A late process that nothing has replaced is named for this long. */
const LOST_FOR_S = 600;
const END_WITHIN_MS = 1_000;

/** Counts by response code. */
const Refused = Type.Record(Type.String({ pattern: '^\\d\\d$' }), Type.Number({ minimum: 0 }));

/** The facts of the services, as others read them. Unknown facts are dropped: another release can have others. */
const Facts = Type.Object({
  /** API: requests that it refused since its start, by response code. */
  refused: Type.Optional(Refused),
  /** API: those of requests for known events, by event. */
  refusedOf: Type.Optional(Type.Record(Type.String({ pattern: '^\\d{1,10}$' }), Refused)),
  /** API: calls that wait to register. */
  waiting: Type.Optional(Type.Number({ minimum: 0 })),
  /** Worker. */
  queue: Type.Optional(Type.Union([Type.Literal('up'), Type.Literal('down')])),
  /** Delivery: the kinds that it sends. */
  deliveries: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10 })),
});

/** A process that reports. */
export type RunningProcess = Record<'id' | 'service' | 'version' | 'host', string> &
  Record<'startedAt' | 'seenAt', Date> & { facts: Static<typeof Facts> };

interface ReportedProcess extends RunningProcess {
  /** The time since its last report. */
  silentMs: number;
}

/** Every service may write its report, so the facts of a service that was taken over can be anything. */
function parseFacts(facts: unknown): Static<typeof Facts> {
  const known = Value.Clean(Facts, facts);
  return Value.Check(Facts, known) ? known : {};
}

/**
 * Returns the task that reports this process, so that the console shows it, and `end`, which removes the report
 * after an orderly stop. `read` must be cheap and return no attendee data.
 */
export function reportProcess(
  db: Database,
  { service, version }: Record<'service' | 'version', string>,
  read: () => object,
  clock = systemClock,
) {
  const id = randomUUID();
  let last = '';
  let reportedAt = -IDLE_MS;
  return {
    id,
    name: 'process report',
    intervalMs: INTERVAL_MS,
    run: async () => {
      const facts = JSON.stringify(read());
      if (facts === last && clock.now() - reportedAt < IDLE_MS) return 'done' as const;
      await sql`
        insert into processes (id, service, version, host, facts)
        values (${id}, ${service}, ${version}, ${hostname()}, ${facts}::jsonb)
        on conflict (id) do update set facts = excluded.facts, seen_at = excluded.seen_at`.execute(db);
      if (last === '')
        await sql`
          delete from processes where seen_at < now() - make_interval(secs => ${LOST_FOR_S})`.execute(db);
      last = facts;
      reportedAt = clock.now();
      return 'done' as const;
    },
    end: async () => {
      const removed = sql`delete from processes where id = ${id}`.execute(db).catch(() => {});
      await withDeadline(removed, END_WITHIN_MS, () => {});
    },
  };
}

/** Returns the running processes. */
export async function listProcesses(db: Database): Promise<RunningProcess[]> {
  const { running } = await readProcesses(db);
  return running.map((one) => {
    const { silentMs: _, ...process } = one;
    return process;
  });
}

/** The processes that report, and those that have stopped to report and were not stopped. */
export interface Processes {
  running: ReportedProcess[];
  late: ReportedProcess[];
}

/** Returns the processes that have reported within ten minutes and were not stopped in order. */
export async function readProcesses(db: Database): Promise<Processes> {
  // The counts of partners are large, and have a reader of their own.
  const { rows } = await sql<ReportedProcess>`
    select id, service, version, host, started_at, seen_at,
      case when jsonb_typeof(facts) = 'object' then facts - 'refusedPartners' else '{}' end as facts,
      (extract(epoch from now() - seen_at) * 1000)::float8 as silent_ms
    from processes
    where seen_at > now() - make_interval(secs => ${LOST_FOR_S})
    order by service, started_at`.execute(inCamelCase(db));
  const all = rows.map((row) => ({ ...row, facts: parseFacts(row.facts) }));
  const isLate = ({ silentMs }: ReportedProcess) => silentMs > LATE_AFTER_S * 1_000;
  return { running: all.filter((one) => !isLate(one)), late: all.filter(isLate) };
}

/** The services without which the work of an installation stops. */
const NEEDED = ['api', 'worker', 'delivery'];

/** Returns the late processes that no process has replaced. */
export const lostOf = ({ running, late }: Processes) =>
  late.filter(
    (one) =>
      !running.some(
        ({ service, host, startedAt }) =>
          service === one.service && host === one.host && startedAt > one.seenAt,
      ),
  );

/** Returns what is wrong with processes: services without a process, lost processes, and a queue that is down. */
export function findingsOfProcesses(processes: Processes): Finding[] {
  const { running, late } = processes;
  const missing = NEEDED.filter((name) => !running.some(({ service }) => service === name));
  const silence = (name: string) =>
    late.filter(({ service }) => service === name).map(({ silentMs }) => silentMs);
  return [
    ...missing.map((service) => {
      const silentMs = silence(service);
      return found('serviceMissing', {
        service,
        silentMs: silentMs.length > 0 ? Math.min(...silentMs) : null,
      });
    }),
    ...lostOf(processes)
      .filter(({ service }) => !missing.includes(service))
      .map(({ service, host, silentMs }) => found('processLost', { service, host, silentMs })),
    ...(running.some(({ facts }) => facts.queue === 'down') ? [found('queueDown', {})] : []),
  ];
}

/** Refusals by partner and response code. */
const RefusedPartners = Type.Record(
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
  const { rows } = await sql<{ refused: unknown }>`
    select facts->'refusedPartners' as refused from processes
    where service = 'api' and seen_at > now() - make_interval(secs => ${LATE_AFTER_S})`.execute(db);
  const sums = new Map<string, PartnerRefusals>();
  for (const { refused } of rows) {
    if (!Value.Check(RefusedPartners, refused)) continue;
    for (const [partner, codes] of Object.entries(refused))
      for (const [code, refusals] of Object.entries(codes)) {
        const partnerId = Number(partner);
        if (ofPartner !== undefined && partnerId !== ofPartner) continue;
        const sum = sums.getOrInsertComputed(`${partner} ${code}`, () => ({ partnerId, code, refusals: 0 }));
        sum.refusals += refusals;
      }
  }
  return [...sums.values()].toSorted((one, other) => other.refusals - one.refusals);
}
