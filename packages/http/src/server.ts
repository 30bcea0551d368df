import { maxHeaderSize } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isEmailAddress } from '@floodgate/contract';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { answerError, answerErrors } from './answer-errors.ts';
import { fail } from './fail.ts';
import { nextRequestId } from './request-id.ts';
import { answerMalformedHttp, answerOutsideFastify } from './strict/answer-malformed.ts';
import { isAnswerDue, trackConnections } from './strict/connections.ts';
import { inviteBodyWhenRead } from './strict/expect-continue.ts';
import { readJsonBodies } from './strict/json-body.ts';
import { closeIdleConnections } from './strict/keep-alive.ts';
import { checkHead } from './strict/request-smuggling.ts';

/** Time to read a request, headers and body; a slow client may not hold a connection for longer. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 5_000;
/** How often Node looks for requests that are past these two; by default only every 30 s. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const SWEEP_MS = 20;

/** A server whose routes take their types from their TypeBox schemas. */
export type Routes = ReturnType<typeof createServer>;

/** Creates a server with strict HTTP, the envelope and no route. The caller listens, and closes it with closeServer. */
export function createServer(log: FastifyBaseLogger) {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for every request would cost more than the rest of the routing.
    childLoggerFactory: (logger) => logger,
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
    // Whatever fits into a request line is looked at: it is up to the routes what a parameter may be.
    routerOptions: { maxParamLength: maxHeaderSize },
    clientErrorHandler: answerMalformedHttp,
    frameworkErrors: answerError,
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorate('connections', trackConnections(app.server));
  app.decorateReply('fail', function failThis(code, specifics) {
    return fail(this, code, specifics);
  });
  closeIdleConnections(app.server);
  inviteBodyWhenRead(app.server);
  app.addHook('onRequest', checkHead);
  readJsonBodies(app);
  answerOutsideFastify(app);
  answerErrors(app);
  return app;
}

/**
 * Stops accepting, answers what is in flight and closes every connection. What a client has not sent, or not taken,
 * within `patienceMs` is given up; a request that was read completely is answered however long that takes.
 */
export async function closeServer(app: FastifyInstance, patienceMs = 1_000): Promise<void> {
  const patientUntil = performance.now() + patienceMs;
  const sweep = setInterval(() => {
    // Connections that were busy when the stop began fall idle after their answer, and would be kept alive.
    app.server.closeIdleConnections();
    // Node itself no longer looks for slow clients.
    if (performance.now() < patientUntil) return;
    for (const socket of app.connections) if (!isAnswerDue(socket)) socket.destroy();
  }, SWEEP_MS);
  await app.close();
  clearInterval(sweep);
}
