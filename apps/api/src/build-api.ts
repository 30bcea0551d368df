import { maxHeaderSize } from 'node:http';
import { BODY_LIMIT_BYTES, isEmailAddress } from '@floodgate/contract';
import type { Logger } from '@floodgate/service';
import type { Database } from '@floodgate/database';
import type { FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { AccessControl, authenticate, limitRate } from '@floodgate/partners';
import {
  answerError,
  answerErrors,
  answerMalformedHttp,
  answerOutsideFastify,
  checkHead,
  closeWhenIdle,
  Connections,
  parseJson,
  nextRequestId,
  documentation,
  healthRoutes,
} from '@floodgate/http';
import type { Registrar } from '@floodgate/registrations';
import { registerRoute, registrationStatusRoute } from '@floodgate/registrations/api';
import { TicketList } from '@floodgate/tickets';
import { ticketsRoute } from '@floodgate/tickets/api';

export interface ApiDependencies {
  /** For everything but reserving, which is the registrar's. */
  db: Database;
  registrar: Pick<Registrar, 'register' | 'hasRoom'>;
  /** Counts the requests of partners that have a limit. */
  rateLimitStore: FastifyRateLimitStoreCtor;
  queue: { problem(): string | null };
  log: Logger;
}

/** Time to read a request, headers and body; a slow client may not hold a connection for longer. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 5_000;
/** How often Node looks for requests that are past these two; by default only every 30 s. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

const SWEEP_MS = 20;

/**
 * Stops accepting, answers what is in flight and closes every connection. What a client has not sent, or not taken,
 * within `patienceMs` is given up; a request that was read completely is answered however long that takes.
 */
export async function closeApi(app: FastifyInstance, patienceMs = 1_000): Promise<void> {
  const patientUntil = performance.now() + patienceMs;
  const sweep = setInterval(() => {
    // Connections that were busy when the stop began fall idle after their answer, and would be kept alive.
    app.server.closeIdleConnections();
    // Node itself no longer looks for slow clients.
    if (performance.now() > patientUntil) app.connections.closeUnlessAnswerIsDue();
  }, SWEEP_MS);
  await app.close();
  clearInterval(sweep);
}

/** Builds the partners' HTTP API. The caller listens, and closes it with closeApi. */
export async function buildApi({
  db,
  registrar,
  rateLimitStore,
  queue,
  log,
}: ApiDependencies): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = log;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for every request would cost more than the rest of the routing.
    childLoggerFactory: (logger) => logger,
    genReqId: nextRequestId,
    bodyLimit: BODY_LIMIT_BYTES,
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
    // Whatever fits into a request line is looked at: it is up to the routes what a parameter may be.
    routerOptions: { maxParamLength: maxHeaderSize },
    clientErrorHandler: answerMalformedHttp,
    frameworkErrors: answerError,
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorate('connections', new Connections(app.server));
  closeWhenIdle(app.server);
  app.addHook('onRequest', checkHead);
  parseJson(app);
  answerOutsideFastify(app);
  answerErrors(app);
  await documentation(app);
  healthRoutes(app, db, queue);
  await app.register(
    async (events) => {
      events.decorateRequest('access', null as never);
      events.addHook('onRequest', authenticate(new AccessControl(db)));
      await limitRate(events, rateLimitStore);
      registerRoute(events, registrar);
      ticketsRoute(events, new TicketList(db));
      registrationStatusRoute(events, db);
    },
    { prefix: '/api/v1' },
  );
  return app;
}
