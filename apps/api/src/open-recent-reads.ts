import { connect, isCluster, primaryReads, type Database, type RecentReads } from '@floodgate/database';
import { REPLICA_WITHIN_MS, ReplicaReads } from '@floodgate/database/reads/replica-reads';
import type { ApiContext } from '@floodgate/http';
import type { Logger } from '@floodgate/service';
import type { ApiConfig } from './config.ts';

interface Given {
  config: ApiConfig;
  log: Logger;
  reads: Database;
  openPool: ApiContext['openPool'];
  /** Closes what is adopted here. */
  opened: AsyncDisposableStack;
}

/** Opens what reads that may be a little outdated go to, and the replica where one is set. It need not answer yet. */
export async function openRecentReads({
  config,
  log,
  reads,
  openPool,
  opened,
}: Given): Promise<{ recent: RecentReads; replica: ReplicaReads | null }> {
  const connectionString = config.DATABASE_REPLICA_URL;
  if (!connectionString) return { recent: primaryReads(reads), replica: null };
  // What a coordinator's standby has replayed says nothing about the shards.
  if (await isCluster(reads)) throw new Error('DATABASE_REPLICA_URL cannot be used with Citus: unset it');
  const giveUp = { connectTimeoutMs: REPLICA_WITHIN_MS, statementTimeoutMs: REPLICA_WITHIN_MS };
  const db = connect({
    connectionString,
    applicationName: 'floodgate-api replica',
    maxConnections: config.READ_CONNECTIONS,
    prepareStatements: true,
    onIdleError: (err) => log.warn({ err }, 'an idle connection to the replica was lost'),
    ...giveUp,
  });
  opened.adopt(db, () => db.destroy());
  const marks = openPool({ purpose: 'marks', maxConnections: 1, ...giveUp });
  const replica = opened.use(new ReplicaReads({ primary: reads, marks, replica: db }, log));
  return { recent: replica, replica };
}
