import { setTimeout as delay } from 'node:timers/promises';
import { globSync } from 'node:fs';
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Redis } from 'ioredis';
import type { Database } from '@floodgate/database';
import { sql, type RawBuilder } from 'kysely';
import pg from 'pg';
import { CITUS_FAULTS } from './citus-faults.ts';
import {
  each,
  forgetConnections,
  freeze,
  holdMode,
  lose,
  repeatedly,
  type Fault,
  type Hold,
} from './fault.ts';
import { canMountDisk } from './own-disk.ts';

const REDIS_MEMORY = '1mb';
const WIRE_DELAY_MS = 40;
const CLOCK_STEPS = ['+3600s', '-3600s', '+0'];
/** The library reads the file again after a second. */
const CLOCK_STEP_MS = 1_200;

/** A transaction that somebody forgets for a while, with what it has locked. */
async function forgetTransaction(db: Database, statement: RawBuilder<unknown>, hold: Hold): Promise<void> {
  const forgotten = await db.startTransaction().execute();
  await statement.execute(forgotten);
  await hold();
  await forgotten.rollback().execute();
}

/** On a Citus cluster, Postgres is its coordinator. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'API killed',
    part: 'api',
    strike: ({ deployment, random, hold }) => lose(random.pick(deployment.apis), hold),
  },
  {
    name: 'worker killed',
    part: 'worker',
    strike: ({ deployment, random, hold }) => lose(random.pick(deployment.workers), hold),
  },
  {
    name: 'delivery process killed',
    part: 'delivery',
    strike: ({ deployment, random, hold }) => lose(random.pick(deployment.deliveries), hold),
  },
  {
    name: 'delivery process frozen',
    part: 'delivery',
    strike: ({ deployment, random, hold }) => freeze(random.pick(deployment.deliveries), hold),
  },
  {
    name: "partner's receiver away",
    part: 'receivers',
    strike: ({ deployment: { webhooks }, hold }) => lose(webhooks, hold),
  },
  {
    name: 'SMTP server away',
    part: 'receivers',
    strike: ({ deployment: { mails }, hold }) => lose(mails, hold),
  },
  {
    name: 'Redis killed, comes back empty',
    part: 'redis',
    strike: ({ deployment: { redis }, hold }) => lose(redis, hold),
  },
  {
    name: 'Postgres crashed',
    part: 'postgres',
    strike: ({ deployment: { postgres }, hold }) => lose(postgres, hold),
  },
  {
    name: 'API frozen',
    part: 'api',
    mayTimeOut: true,
    outlastsLocks: true,
    strike: ({ deployment, random, hold }) => freeze(random.pick(deployment.apis), hold),
  },
  {
    name: 'worker frozen',
    part: 'worker',
    outlastsLocks: true,
    strike: ({ deployment, random, hold }) => freeze(random.pick(deployment.workers), hold),
  },
  {
    name: 'Redis frozen',
    part: 'redis',
    outlastsLocks: true,
    strike: ({ deployment: { redis }, hold }) => freeze(redis, hold),
  },
  {
    name: 'Postgres frozen',
    part: 'postgres',
    outlastsLocks: true,
    strike: ({ deployment: { postgres }, hold }) => freeze(postgres, hold),
  },
  {
    name: 'Postgres: every connection terminated',
    part: 'postgres',
    strike: ({ deployment: { db } }) =>
      repeatedly(() =>
        sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name like 'floodgate%'`.execute(
          db,
        ),
      ),
  },
  {
    name: 'wire to Postgres: cut between commit and answer',
    part: 'postgres',
    strike: async ({ deployment: { wires } }) => {
      await repeatedly(() => wires.apiToPostgres.setMode('cut-next-answer'));
      wires.apiToPostgres.setMode('pass');
    },
  },
  {
    name: 'wire to Postgres: down',
    part: 'postgres',
    strike: ({ deployment: { wires }, hold }) =>
      holdMode([wires.apiToPostgres, wires.workerToPostgres], 'down', hold),
  },
  {
    name: 'wire to Postgres: reset',
    part: 'postgres',
    strike: ({ deployment: { wires }, hold }) =>
      holdMode([wires.apiToPostgres, wires.workerToPostgres], 'reset', hold),
  },
  {
    name: 'wire to Postgres: silent',
    part: 'postgres',
    strike: ({ deployment: { wires }, hold }) =>
      holdMode([wires.apiToPostgres, wires.workerToPostgres], 'silent', hold),
  },
  {
    name: 'wire to Postgres: half-open',
    part: 'postgres',
    strike: ({ deployment: { wires } }) => forgetConnections([wires.apiToPostgres, wires.workerToPostgres]),
  },
  {
    name: 'wire to Postgres: slow',
    part: 'postgres',
    strike: async ({ deployment: { wires }, hold }) => {
      const slow = [wires.apiToPostgres, wires.workerToPostgres];
      each(slow, (wire) => wire.setDelay(WIRE_DELAY_MS));
      await hold();
      each(slow, (wire) => wire.setDelay(0));
    },
  },
  {
    name: 'wire to Redis: reset',
    part: 'redis',
    strike: ({ deployment: { wires }, hold }) =>
      holdMode([wires.apiToRedis, wires.workerToRedis], 'reset', hold),
  },
  {
    name: 'wire to Redis: silent',
    part: 'redis',
    strike: ({ deployment: { wires }, hold }) =>
      holdMode([wires.apiToRedis, wires.workerToRedis], 'silent', hold),
  },
  {
    name: 'wire to Redis: half-open',
    part: 'redis',
    strike: ({ deployment: { wires } }) => forgetConnections([wires.apiToRedis, wires.workerToRedis]),
  },
  {
    name: 'wire to partners: cut',
    part: 'partners',
    isOnPartnersWire: true,
    strike: async ({ deployment: { wires } }) => {
      await repeatedly(() => each(wires.partnersToApis, (wire) => wire.cutConnections()));
    },
  },
  {
    name: 'wire to partners: answers lost',
    part: 'partners',
    isOnPartnersWire: true,
    strike: async ({ deployment: { wires } }) => {
      await repeatedly(() => each(wires.partnersToApis, (wire) => wire.setMode('cut-next-answer')));
      each(wires.partnersToApis, (wire) => wire.setMode('pass'));
    },
  },
  {
    name: 'Redis full',
    part: 'redis',
    strike: async ({ deployment: { redis }, hold }) => {
      await using client = disposable(new Redis(redis.url));
      await client.it.config('SET', 'maxmemory', REDIS_MEMORY);
      await hold();
      await client.it.config('SET', 'maxmemory', '0');
    },
  },
  {
    name: 'Postgres: out of connections',
    part: 'postgres',
    strike: async ({ deployment: { postgres, wires }, hold }) => {
      const hoarded = await hoardConnections(postgres.url());
      // Whoever is connected loses the connection, and gets no other.
      each([wires.apiToPostgres, wires.workerToPostgres], (wire) => wire.cutConnections());
      hoarded.push(...(await hoardConnections(postgres.url())));
      await hold();
      await Promise.all(hoarded.map((client) => client.end()));
    },
  },
  {
    name: 'Postgres: a ticket held by a forgotten transaction',
    part: 'postgres',
    strike: async ({ deployment: { db }, random, hold }) => {
      const newest = db.selectFrom('tickets').select(['shard_id', 'id']).orderBy('id', 'desc');
      const ticket = await newest.offset(random.between(0, 2)).limit(1).executeTakeFirstOrThrow();
      await forgetTransaction(
        db,
        sql`update tickets set title = title where shard_id = ${ticket.shard_id} and id = ${ticket.id}`,
        hold,
      );
    },
  },
  {
    name: 'Postgres: a table locked by a forgotten transaction',
    part: 'postgres',
    strike: ({ deployment: { db }, random, hold }) => {
      const table = random.pick(['tickets', 'registrations', 'batches', 'idempotency_keys', 'secret_keys']);
      return forgetTransaction(db, sql`lock table ${sql.id(table)}`, hold);
    },
  },
  {
    name: 'Postgres: commits wait for a standby that is away',
    part: 'postgres',
    deployments: ['redis'],
    strike: async ({ deployment: { db }, hold }) => {
      await sql`alter system set synchronous_standby_names = 'nobody'`.execute(db);
      await sql`select pg_reload_conf()`.execute(db);
      await hold();
      await sql`alter system reset synchronous_standby_names`.execute(db);
      await sql`select pg_reload_conf()`.execute(db);
    },
  },
  {
    name: 'Postgres: disk full',
    part: 'postgres',
    missing: () => (canMountDisk() ? null : 'needs the right to mount a file system'),
    strike: async ({ deployment: { postgres, db }, hold }) => {
      postgres.disk!.fill();
      // The next write to the log needs a new file; whether that, or a table, fails first is up to Postgres.
      await sql`select pg_switch_wal()`.execute(db).catch(() => {});
      await hold();
      postgres.disk!.empty();
      await postgres.recover();
    },
  },
  {
    name: 'Postgres: primary lost, standby promoted',
    part: 'postgres',
    deployments: ['redis'],
    isLongOnly: true,
    strike: async ({ deployment: { postgres, wires }, hold }) => {
      const standby = await postgres.addStandby();
      await hold();
      await postgres.failOver(standby);
      const toPostgres = [wires.apiToPostgres, wires.workerToPostgres, wires.suiteToPostgres];
      each(toPostgres, (wire) => wire.redirect(postgres.url()));
    },
  },
  {
    name: 'Redis Cluster: master lost, replica takes over',
    part: 'redis',
    isLongOnly: true,
    deployments: ['redis-cluster'],
    strike: ({ deployment: { cluster } }) => cluster!.loseBusiestMaster(),
  },
  {
    name: 'clock of an API stepped',
    part: 'api',
    missing: () => (findFakeTime() ? null : 'needs libfaketime'),
    strike: async ({ deployment, random }) => {
      const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-clock-'));
      const clock = path.join(directory, 'clock');
      await writeFile(clock, '+0');
      const api = random.pick(deployment.apis);
      await api.end('SIGTERM');
      await api.start({
        LD_PRELOAD: findFakeTime()!,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      });
      for (const step of CLOCK_STEPS) {
        await writeFile(clock, step);
        await delay(CLOCK_STEP_MS);
      }
      await api.end('SIGTERM');
      await api.start();
      await rm(directory, { recursive: true });
    },
  },
  {
    name: 'rolling restart',
    part: 'api',
    mayFail: false,
    strike: async ({ deployment: { apis, workers, deliveries } }) => {
      for (const service of [...apis, ...workers, ...deliveries]) {
        const code = await service.end('SIGTERM');
        if (code !== 0) throw new Error(`a process ended with ${code} on SIGTERM`);
        await service.start();
      }
    },
  },
  ...CITUS_FAULTS,
];

/** The library of Debian's package libfaketime; undefined where it is not installed. */
function findFakeTime(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
}

/** Takes every connection that Postgres has left. */
async function hoardConnections(connectionString: string): Promise<pg.Client[]> {
  const hoarded: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString });
    client.on('error', () => {});
    try {
      await client.connect();
      hoarded.push(client);
    } catch {
      return hoarded;
    }
  }
}

function disposable(it: Redis): { it: Redis } & AsyncDisposable {
  return {
    it,
    [Symbol.asyncDispose]: () => {
      it.disconnect();
      return Promise.resolve();
    },
  };
}
