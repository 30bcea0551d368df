import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isEmailAddress } from '@floodgate/contract';
import { ping, type Database, type PoolOptions, type ShardReads } from '@floodgate/database';
import type { Metrics } from '@floodgate/metrics';
import type { Producer } from '@floodgate/queue';
import { http, shareCalls, type Clock, type Logger } from '@floodgate/service';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify';
import { errorAnswerer, fail, nextRequestId, refuseUnknownRoutes } from './answer-errors.ts';
import { answerMalformedHttp, answerOutsideFastify, closeInOrder } from './connections.ts';
import { limitLists } from './list-limits.ts';
import { normalizePeople } from './normalize-people.ts';
import { openApi, readReferenceDemo } from './openapi.ts';
import { boundUrl, checkHead, parseQuery, readBodies } from './read-requests.ts';
import { recordRequests } from './record-requests.ts';
import { addReferencePage } from './reference-page.ts';

/** Time limit for reading a request, headers and body. A slow client cannot hold a connection for longer. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 5_000;
/** Interval at which Node checks these two limits. Node's default is 30 s. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/**
 * Maximum size of a body, unless the route has its own limit or is behind the authentication of partners,
 * which raises it. Anybody can send a body to a public route, and the buffers of a connection hold as many
 * bytes anyway.
 */
export const PUBLIC_BODY_LIMIT_BYTES = 4 * 1024;

/** A server whose routes take their types from their TypeBox schemas. */
export type Routes = ReturnType<typeof createServer>;

/**
 * Creates a server with strict HTTP, the envelope and no routes. Fastify gets no logger: it would listen for
 * the end of every answer, which is a tenth of the cost of Get Tickets.
 */
export function createServer(log: Logger, closeWithinMs = 1_000) {
  const answerError = errorAnswerer(log);
  const app = Fastify({
    genReqId: nextRequestId,
    bodyLimit: PUBLIC_BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: KEEP_ALIVE_TIMEOUT_MS + REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // checkHead refuses a request without a Host header. Node would answer without the envelope.
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      requireHostHeader: false,
      // Of some repeated headers Node would keep only the first, but a proxy may have used the last.
      joinDuplicateHeaders: true,
    },
    // During shutdown the API still answers requests on open connections normally.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    ajv: {
      customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: true },
      // Replaces the `email` format of Fastify, which accepts other addresses.
      onCreate: (ajv) => ajv.addFormat('email', isEmailAddress),
    },
    // Every parameter that fits into a request line reaches its route, which validates it.
    routerOptions: { maxParamLength: http.maxHeaderSize, querystringParser: parseQuery },
    rewriteUrl: boundUrl,
    clientErrorHandler: answerMalformedHttp,
    frameworkErrors: answerError,
  }).withTypeProvider<TypeBoxTypeProvider>();

  closeInOrder(app, closeWithinMs);
  app.decorateReply('fail', function failThis(code, specifics) {
    return fail(this, code, specifics);
  });
  app.addHook('onRequest', checkHead);
  readBodies(app);
  normalizePeople(app);
  answerOutsideFastify(app);
  app.setErrorHandler<FastifyError>(answerError);
  refuseUnknownRoutes(app);
  limitLists(app);
  return app;
}

/** The dependencies that the API passes to every capability. */
export interface ApiContext {
  log: Logger;
  /** Undefined: nobody reads metrics, so none are recorded. */
  metrics?: Metrics | undefined;
  /** For statements that only read. */
  reads: Database;
  /** For reads that need the server of one shard. */
  shardReads: ShardReads;
  /** Opens a separate pool. The API closes it after the capability. pg_stat_activity shows its `purpose`. */
  openPool(options: PoolOptions): Database;
  producer: Pick<Producer, 'enqueue'>;
  /** Time limit for the answer to a request. */
  answerWithinMs: number;
  /** Time limit for a read. A slower one fails: its answer about a key could be stale. */
  readWithinMs: number;
  /** Decides about limits, breakers and the age of cached reads. By default the clock of the process. */
  clock?: Clock | undefined;
}

/** An open capability of the API's process. */
export interface OpenCapability {
  /** Adds its routes below /api/v1, or hooks for the requests to all capabilities. */
  routes?(api: Routes): void;
  /** Adds public routes with other paths. They need no key and answer all callers alike. */
  publicRoutes?(app: Routes): void;
  /** Returns facts about this process for operators. Must be cheap. */
  facts?(): Record<string, unknown>;
  /**
   * Resolves when all accepted work is done. The API calls it after the last request, and if the start fails.
   */
  close?(): Promise<void>;
}

/** The face of a capability for the API. */
interface ApiCapability<Settings extends TProperties = TProperties> {
  settings?: Settings;
  open(context: ApiContext, settings: Static<TObject<Settings>>): OpenCapability | Promise<OpenCapability>;
}

/** Returns the face unchanged. Infers the types of its settings. */
export const defineApi = <Settings extends TProperties>(face: ApiCapability<Settings>): ApiCapability => face;

/** The fields of a request that `submit` needs. */
export type Call = Pick<FastifyRequest, 'principal' | 'startedAt'>;

/**
 * The caller. The authentication hook sets it on every route behind it, and its package declares the fields.
 */
export type Principal = FastifyRequest['principal'];

interface ApiParts extends Pick<ApiContext, 'log' | 'metrics' | 'reads'> {
  /** The URL at which partners reach the operator. */
  contactUrl?: string | undefined;
  /** The demo.json of the test event for the page at /docs. */
  demoFile?: string | undefined;
  queue: { problem(): string | null };
  /** Whether to write a log line per request. */
  hasAccessLog?: boolean;
  /** Time limit for slow clients when the API is closed. */
  closeWithinMs: number;
  capabilities: readonly OpenCapability[];
}

/** Builds the partners' HTTP API from the capabilities. The caller starts to listen, and closes it. */
export async function buildApi(parts: ApiParts) {
  const { log, metrics, reads, queue, capabilities } = parts;
  const app = createServer(log, parts.closeWithinMs);
  recordRequests(app, metrics, parts.hasAccessLog ? log : undefined);
  const demo = parts.demoFile ? await readReferenceDemo(parts.demoFile) : undefined;
  await openApi(app, parts.contactUrl, demo);
  addReferencePage(app, demo);
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

/**
 * Adds the health checks. Ready means that Postgres answers. The queue is only reported: registrations do not
 * need it.
 */
export function healthRoutes(app: FastifyInstance, db: Database, queue: ApiParts['queue']) {
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'ok' }));
  // Concurrent callers share one ping, because the route is public and has no rate limit.
  const pingOnce = shareCalls(() => ping(db));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    const isUp = await pingOnce();
    void reply.code(isUp ? 200 : 503);
    return {
      status: isUp ? 'ok' : 'unavailable',
      postgres: isUp ? 'up' : 'down',
      // The route is public and the reason can name hosts, so the reason is only in the log.
      queue: queue.problem() === null ? 'up' : 'down',
    };
  });
}
