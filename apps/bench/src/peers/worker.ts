// The worker process of a peer: confirms registrations, one per job.
import { runService, type Logger } from '@floodgate/service';
import { connect } from '@floodgate/database';
import { loadPeer, PeerConfig } from './peer.ts';

await runService('peer-worker', PeerConfig, start);

async function start(config: PeerConfig, log: Logger): Promise<AsyncDisposable> {
  const peer = await loadPeer(config.PEER);
  const db = connect({
    connectionString: config.DATABASE_URL,
    applicationName: 'peer-worker',
    maxConnections: peer.connections.worker,
    prepareStatements: true,
    // A burst of jobs may wait for a connection: a timeout would only cause a retry.
    connectTimeoutMs: 30_000,
  });
  const worker = await peer.startWorker({ config, log, db });
  log.info('working');
  return {
    [Symbol.asyncDispose]: async () => {
      await worker.close();
      await db.destroy();
    },
  };
}
