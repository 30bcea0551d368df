import { formatPassReference } from '@floodgate/contract';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { checkHistory, type Violation } from './check-history.ts';
import type { Deployment } from './deployment.ts';
import { makesRequestsFail, type Fault } from './faults.ts';
import { labelOf, type History, type Stored } from './history.ts';
import { Partners } from './partners.ts';
import { Random } from './random.ts';

/** What happens in a round; everything else follows from its seed. */
export interface Round {
  seed: number;
  faults: readonly Fault[];
  holdMs: number;
}

export interface RoundResult extends Round {
  requests: number;
  granted: number;
  /** How the attempts ended, by response code or by what came instead of an answer. */
  ends: Record<string, number>;
  /** From the end of the fault until every API answered "00" again. */
  servingAfterMs: number;
  /** From the end of the fault until everything from before it was finalized. */
  finalizedAfterMs: number;
  violations: Violation[];
}

const WARM_UP_REQUESTS = 50;
const REQUESTS_AFTER = 100;
const RECOVER_WITHIN_MS = 60_000;
const ROOMY = 1_000_000;

/** Runs load against a deployment while faults strike, waits until it has recovered, and checks the history. */
export async function runRound(deployment: Deployment, round: Round): Promise<RoundResult> {
  const random = new Random(round.seed);
  const { db } = deployment;
  const fixture = await createFixture(db);
  // Some sell out in the middle of it.
  const capacities = [ROOMY, random.between(1, 300), random.between(300, 1_500)];
  const ticketIds: number[] = [];
  for (const capacity of capacities) ticketIds.push(await fixture.addTicket({ capacity }));
  const isOnPartnersWire = round.faults.some((fault) => fault.isOnPartnersWire);
  const { apiUrls, wires } = deployment;
  const partners = new Partners({
    apiUrls: isOnPartnersWire
      ? apiUrls.map((url, index) => trimSlash(wires.partnersToApis[index]!.through(url)))
      : apiUrls,
    fixture,
    ticketIds,
    roundId: `r${round.seed}`,
    random: new Random(random.seed()),
  });
  const problems: Violation[] = [];
  const attempt = async (what: string, act: () => Promise<unknown>) => {
    await act().catch((error: Error) =>
      problems.push({ kind: 'stuck', problem: `${what}: ${error.message}` }),
    );
  };
  await attempt('before the fault', () =>
    waitUntil('the service works', () => partners.history.requests.length >= WARM_UP_REQUESTS),
  );
  await attempt('the fault', () =>
    Promise.all(
      round.faults.map((fault) =>
        fault.strike({ deployment, random: new Random(random.seed()), holdMs: round.holdMs }),
      ),
    ),
  );
  const mendedAt = partners.now();
  let servingAfterMs = Number.NaN;
  let finalizedAfterMs = Number.NaN;
  await Promise.all([
    attempt('serving again', async () => {
      const servedAt = await waitUntil(
        'every API grants seats again',
        () => allServedAt(partners, apiUrls.length, mendedAt),
        RECOVER_WITHIN_MS,
      );
      servingAfterMs = servedAt - mendedAt;
    }),
    attempt('finalizing again', async () => {
      const before = await readNow(deployment);
      await waitUntil(
        'what was reserved is finalized',
        () => isFinalized(deployment, before),
        RECOVER_WITHIN_MS,
      );
      finalizedAfterMs = partners.now() - mendedAt;
    }),
  ]);
  const afterwards = partners.history.requests.length + REQUESTS_AFTER;
  await attempt('after the fault', () =>
    waitUntil('the service goes on', () => partners.history.requests.length >= afterwards),
  );
  await partners.finish();
  await attempt('finalizing the rest', async () => {
    const before = await readNow(deployment);
    await waitUntil('all is finalized', () => isFinalized(deployment, before), RECOVER_WITHIN_MS);
  });
  const stored = await readStored(deployment, fixture, ticketIds);
  const differences = await reconcile(db);
  const { history } = partners;
  return {
    ...round,
    requests: history.requests.length,
    granted: stored.registrations.length,
    ends: countEnds(history),
    servingAfterMs,
    finalizedAfterMs,
    violations: [
      ...problems,
      ...checkHistory(history, stored, {
        mayTimeOut: round.faults.some((fault) => fault.mayTimeOut ?? fault.isOnPartnersWire ?? false),
        mayFail: round.faults.some(makesRequestsFail),
      }),
      ...[...deployment.apis, ...deployment.workers]
        .flatMap((service) => service.misfortunes())
        .map((problem): Violation => ({ kind: 'stuck', problem: `a process ${problem}` })),
      ...differences.map(({ subject, problem }): Violation => ({
        kind: 'wrong',
        problem: `${subject} ${problem}`,
      })),
    ],
  };
}

function countEnds({ requests }: History): Record<string, number> {
  const ends: Record<string, number> = {};
  for (const { end } of requests.flatMap(({ attempts }) => attempts))
    ends[labelOf(end)] = (ends[labelOf(end)] ?? 0) + 1;
  return ends;
}

const trimSlash = (url: string) => url.replace(/\/$/, '');

function allServedAt(partners: Partners, apis: number, since: number): number | undefined {
  const times = Array.from({ length: apis }, (_, api) => partners.servedAt(api, since));
  return times.some((time) => time === undefined) ? undefined : Math.max(...(times as number[]));
}

/** By Postgres' own clock. */
async function readNow({ db }: Deployment): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]!.now;
}

async function isFinalized({ db }: Deployment, before: Date): Promise<boolean> {
  const pending = await db
    .selectFrom('batches')
    .select('id')
    .where('state', '=', 'pending')
    .where('created_at', '<=', before)
    .limit(1)
    .execute();
  return pending.length === 0;
}

async function readStored({ db }: Deployment, fixture: Fixture, ticketIds: number[]): Promise<Stored> {
  const rows = await db
    .selectFrom('registrations as r')
    .innerJoin('batches as b', 'b.id', 'r.batch_id')
    .select([
      'r.serial',
      'r.pass_code as passCode',
      'r.ticket_id as ticketId',
      'r.extra_data_1 as requestId',
      'b.state',
    ])
    .where('r.ticket_id', 'in', ticketIds)
    .execute();
  const tickets = await db
    .selectFrom('tickets')
    .select(['id', 'capacity', 'taken'])
    .where('id', 'in', ticketIds)
    .execute();
  const { passPrefix: prefix, eventId } = fixture;
  return {
    tickets,
    registrations: rows.map(({ serial, passCode, ticketId, requestId, state }) => ({
      requestId: requestId ?? '',
      ticketId,
      passReference: formatPassReference({ prefix, eventId, serial, passCode }),
      state,
    })),
  };
}
