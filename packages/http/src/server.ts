import { maxHeaderSize } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isEmailAddress } from '@floodgate/contract';
import { ping, type Database, type PoolOptions, type ShardReads } from '@floodgate/database';
import type { Producer } from '@floodgate/queue';
import { shareCalls, type Logger } from '@floodgate/service';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { answerErrors, errorAnswerer, fail, nextRequestId } from './answer-errors.ts';
import { answerMalformedHttp, answerOutsideFastify, closeInOrder } from './connections.ts';
import { openApi, type Description } from './openapi.ts';
import { checkHead, parseQuery, readBodies } from './read-requests.ts';
import { addReferencePage } from './reference-page.ts';

/** Time to read a request, headers and body; a slow client may not hold a connection for longer. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 5_000;
/** How often Node looks for requests that are past these two; by default only every 30 s. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** A server whose routes take their types from their TypeBox schemas. */
export type Routes = ReturnType<typeof createServer>;

/**
 * Creates a server with strict HTTP, the envelope and no route. Fastify itself gets no logger: it would listen to the end of
 * every answer, and that is a tenth of what Get Tickets costs.
 */
export function createServer(log: Logger, closeWithinMs = 1_000) {
  const answerError = errorAnswerer(log);
  const app = Fastify({
    genReqId: nextRequestId,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: KEEP_ALIVE_TIMEOUT_MS + REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Without a Host header Node would answer by itself; checkHead does.
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      requireHostHeader: false,
      // Node would keep the first of some headers that come twice; a proxy in front may have gone by the last.
      joinDuplicateHeaders: true,
    },
    // While it stops, the API answers what still arrives on open connections like any other request.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    ajv: {
      customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: true },
      // After the formats that Fastify adds by itself, which hold another idea of an address.
      onCreate: (ajv) => ajv.addFormat('email', isEmailAddress),
    },
    // Any parameter that fits into a request line reaches its route, which decides whether it is valid.
    routerOptions: { maxParamLength: maxHeaderSize, querystringParser: parseQuery },
    clientErrorHandler: answerMalformedHttp,
    frameworkErrors: answerError,
  }).withTypeProvider<TypeBoxTypeProvider>();

  closeInOrder(app, closeWithinMs);
  app.decorateReply('fail', function failThis(code, specifics) {
    return fail(this, code, specifics);
  });
  app.addHook('onRequest', checkHead);
  readBodies(app);
  answerOutsideFastify(app);
  answerErrors(app, answerError);
  return app;
}

/** The dependencies that the API passes to every capability. */
export interface ApiContext {
  log: Logger;
  /** For statements that only read. */
  reads: Database;
  /** Through this goes each read that needs the server of one shard. */
  shardReads: ShardReads;
  /** Opens a pool apart from the others. The API closes it, after the capability. `purpose` is shown in pg_stat_activity. */
  openPool(options: PoolOptions): Database;
  producer: Pick<Producer, 'enqueue'>;
  /** How long a request may wait for its answer. */
  answerWithinMs: number;
}

/** An open capability of the API's process. */
export interface OpenCapability {
  /** Adds its routes, below /api/v1, or hooks that the requests to all capabilities pass. */
  routes?(api: Routes): void;
  /** Adds routes that no key is needed for, at paths of their own. They say the same to everybody. */
  publicRoutes?(app: Routes): void;
  /** Resolves when what was accepted is done. Called when no further request can come, and where the start failed. */
  close?(): Promise<void>;
}

/** The face that a capability shows to the API. */
export interface ApiCapability<Settings extends TProperties = TProperties> {
  settings: Settings;
  open(context: ApiContext, settings: Static<TObject<Settings>>): OpenCapability | Promise<OpenCapability>;
}

/** Returns the face as it is, with the types of its settings inferred. */
export function defineApi<Settings extends TProperties>(face: ApiCapability<Settings>): ApiCapability {
  return face;
}

/** The caller. Set by the one hook that authenticates, on every route behind it. That hook's package says what is known of a caller. */
export type Principal = FastifyRequest['principal'];

interface ApiParts extends Description, Pick<ApiContext, 'log' | 'reads'> {
  queue: { problem(): string | null };
  /** For clients that are slow when the API is closed. */
  closeWithinMs: number;
  capabilities: readonly OpenCapability[];
}

/** Builds the partners' HTTP API of what the capabilities bring. The caller listens, and closes it. */
export async function buildApi(parts: ApiParts): Promise<Routes> {
  const { log, reads, queue, capabilities } = parts;
  const app = createServer(log, parts.closeWithinMs);
  await openApi(app, parts);
  addReferencePage(app, parts.demo);
  healthRoutes(app, reads, queue);
  for (const capability of capabilities) capability.publicRoutes?.(app);
  await app.register(
    (api, _options, done) => {
      for (const capability of capabilities) capability.routes?.(api);
      done();
    },
    { prefix: '/api/v1' },
  );
  return app;
}

/** Adds the health checks. Ready means that Postgres answers. The queue is only reported: registrations do not need it. */
export function healthRoutes(app: FastifyInstance, db: Database, queue: ApiParts['queue']): void {
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'ok' }));
  // One ping for all callers that wait: anybody may ask, as often as they like.
  const pingOnce = shareCalls(() => ping(db));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    const isUp = await pingOnce();
    void reply.code(isUp ? 200 : 503);
    return {
      status: isUp ? 'ok' : 'unavailable',
      postgres: isUp ? 'up' : 'down',
      // Anybody may ask, so the reason is only in the log: it can name hosts.
      queue: queue.problem() === null ? 'up' : 'down',
    };
  });
}
