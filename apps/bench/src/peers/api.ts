// The API process of a peer: exactly Floodgate's HTTP side, with the peer's way of registering.
import { buildApi, type ApiContext, type Routes } from '@floodgate/http';
import { partnersApi } from '@floodgate/partners/api';
import { addRegisterRoute } from '@floodgate/registrations';
import { ticketsApi } from '@floodgate/tickets/api';
import { runService, type Logger } from '@floodgate/service';
import { connect, readAtOnce } from '@floodgate/database';
import { loadPeer, PeerConfig } from './peer.ts';
import { registerWith } from './reserve-seat.ts';

/** The time limit of a registration in Floodgate. A request that has no connection in this time is answered 90. */
const CONNECT_TIMEOUT_MS = 3_000;
const READ_CONNECTIONS = 4;

await runService('peer-api', PeerConfig, start);

async function start(config: PeerConfig, log: Logger): Promise<AsyncDisposable> {
  const peer = await loadPeer(config.PEER);
  const pool = (applicationName: string, maxConnections: number) =>
    connect({
      connectionString: config.DATABASE_URL,
      applicationName,
      maxConnections,
      prepareStatements: true,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
  const db = pool('peer-api reserve', peer.connections.api);
  const reads = pool('peer-api', READ_CONNECTIONS);
  const desk = await peer.openDesk({ config, log, db });
  const registrations: Parameters<typeof addRegisterRoute>[1] = {
    submit: registerWith((seat) => desk.reserve(seat)),
    refuseWhenFull: (_request, _reply, done) => done(),
    refuse: (_request, reply, code) => reply.fail(code, { retryAfterSeconds: 1 }),
  };
  const context: ApiContext = {
    log,
    reads,
    shardReads: readAtOnce,
    openPool: () => reads,
    producer: { enqueue: () => Promise.resolve() },
    answerWithinMs: CONNECT_TIMEOUT_MS,
    readWithinMs: CONNECT_TIMEOUT_MS,
  };
  const capabilities = [
    await partnersApi.open(context, {}),
    { routes: (api: Routes) => addRegisterRoute(api, registrations) },
    await ticketsApi.open(context, {}),
  ];
  const queue = { problem: () => null };
  const app = await buildApi({ log, reads, queue, closeWithinMs: 1_000, capabilities });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  log.info(`listening at ${baseUrl}`);
  return {
    [Symbol.asyncDispose]: async () => {
      await app.close();
      await desk.close();
      await Promise.all([db.destroy(), reads.destroy()]);
    },
  };
}
