import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import formbody from '@fastify/formbody';
import { assertReady, connectionsOf, openServicePool, ping, type Database } from '@floodgate/database';
import { countRequests, Metrics } from '@floodgate/metrics';
import { createSignIn, reportProcess, type OperatorPrincipal } from '@floodgate/operators';
import { serveHealth, startPeriodicTasks, type Logger } from '@floodgate/service';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import manifest from '../package.json' with { type: 'json' };
import { addAccount } from './account.ts';
import { ConsoleConfig } from './config.ts';
import { cookiesOf } from './cookies.ts';
import { addForms } from './forms/form-page.ts';
import { addIdentityProvider, providerOf, type Provider } from './identity-provider.ts';
import { findingsFor, noticesOf } from './installation/notices.ts';
import { watchInstallation } from './installation/watch-installation.ts';
import { addOperatorApi } from './operator-api.ts';
import { operationsOf, type ConsoleContext } from './operations.ts';
import { addAccessPages } from './pages/access-pages.ts';
import { addAuditPages } from './pages/audit-pages.ts';
import { addDeliveryPages } from './pages/delivery-pages.ts';
import { addEventPages } from './pages/events.ts';
import { addNewEvent, NEW_EVENT } from './pages/new-event.ts';
import { addJobPages } from './pages/job-pages.ts';
import { addMessagePages } from './pages/message-pages.ts';
import { addPeoplePages } from './pages/people-pages.ts';
import { addHealthPages } from './pages/health-page.ts';
import { addLivePages } from './pages/live-page.ts';
import { addHelpPages } from './pages/help-pages.ts';
import { addPartnerPages } from './pages/partner-pages.ts';
import { addWebhookPages } from './pages/webhook-pages.ts';
import { addDoorPages } from './pages/door-pages.ts';
import { addReportPages } from './pages/report-pages.ts';
import { addPreferences } from './preferences.ts';
import { addPrincipals, problemOf, Refusal } from './principals.ts';
import { recordSales } from './sale/record-sales.ts';
import { addSignIn, askToSignIn } from './sign-in.ts';
import { ruleWords } from './words/index.ts';
import { alertHtml } from './view/html.ts';
import { viewerOf, type Viewer } from './view/viewer.ts';
import { sendPage } from './view/page.ts';

export { ConsoleConfig };

const POOL = { maxConnections: 8, statementTimeoutMs: 30_000 };
/** One for processes and sales, one for what waits, one for doors: none waits for a page, or for another. */
const WATCH_POOL = {
  purpose: 'watch',
  maxConnections: 3,
  connectTimeoutMs: 2_000,
  statementTimeoutMs: 2_500,
};
/** Node.js looks for requests that have not arrived in time at this interval, so one is open for 11 s at most. */
const CHECK_MS = 1_000;
const LIMITS = {
  bodyLimit: 64 * 1024,
  requestTimeout: 10_000,
  http: { connectionsCheckingInterval: CHECK_MS, headersTimeout: 10_000 },
};

/** No inline code, nothing from other sites, and no other site can show a page in a frame. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "frame-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Routes that are not for people who look at pages. */
const NO_PAGES = /^\/(operator|assets|health\/(live|ready))(\/|$)/;

/**
 * Serves the console and the operator API. Resolves when it listens, with the addresses of all pages, so that
 * tests can walk over them.
 */
export async function startConsole(config: ConsoleConfig, log: Logger) {
  const provider = providerOf(config);
  await using opened = new AsyncDisposableStack();
  const server = { service: 'console', connectionString: config.DATABASE_URL, log } as const;
  const db = opened.use(openServicePool(server, POOL));
  await assertReady(db, 'console');
  const report = reportProcess(db, { service: 'console', version: manifest.version }, () => ({}));
  opened.defer(report.end);
  const tasks = startPeriodicTasks([report], log);
  opened.defer(() => tasks.stop());
  const app = Fastify({
    ...LIMITS,
    // The sign-in counts failures by the address of the caller.
    trustProxy: config.CONSOLE_PROXIES ?? false,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
  });
  opened.defer(() => app.close());
  const pages: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    if (method === 'GET' && !NO_PAGES.test(url)) pages.push(url);
  });
  app.addHook(
    'onRequest',
    async (request, reply) => void reply.headers({ ...HEADERS, 'x-request-id': request.id }),
  );
  app.decorateRequest('operator', null);
  answerProblems(app, log, provider);
  if (config.METRICS_PORT > 0) opened.use(await serveMetrics(app, db, config));
  const cookies = cookiesOf(config.CONSOLE_URL);
  app.decorateRequest('viewer');
  app.addHook('onRequest', async (request) => void (request.viewer = viewerOf(request, cookies)));
  const watchDb = opened.use(openServicePool(server, WATCH_POOL));
  const installation = watchInstallation(watchDb, log, recordSales(watchDb, report.id));
  opened.defer(() => installation.stop());
  app.decorate('banner', (viewer: Viewer, operator: OperatorPrincipal | null) =>
    noticesOf(findingsFor(operator, installation.state().findings), viewer),
  );
  const signIn = createSignIn(db);
  const doorUrl = config.DOOR_URL;
  const operations = operationsOf(config);
  const context = { db, log, operations, provider, cookies, signIn, installation, doorUrl };
  addAssets(app);
  addHelpPages(app, context);
  app.get('/health/live', () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    const isUp = await ping(db);
    return reply.code(isUp ? 200 : 503).send({ postgres: isUp ? 'up' : 'down' });
  });
  await app.register(async (known) => {
    await known.register(formbody);
    addPages(known, context);
    await addOperatorApi(known, context);
  });
  const baseUrl = await app.listen({ host: config.CONSOLE_HOST, port: config.CONSOLE_PORT });
  log.info(`listening at ${baseUrl}`);
  return Object.assign(opened.move(), { baseUrl, pages });
}

/** Adds what people see, and who they are. */
function addPages(app: FastifyInstance, context: ConsoleContext) {
  for (const add of [addPrincipals, addIdentityProvider]) add(app, context);
  const showForm = addForms(app, context);
  const showNewEvent = addNewEvent(app, context);
  addSignIn(app, context, (request, reply, path, typed) =>
    path === NEW_EVENT ? showNewEvent(request, reply, typed) : showForm(request, reply, path, typed),
  );
  for (const add of PAGES) add(app, context);
}

const PAGES = [
  addEventPages,
  addPeoplePages,
  addMessagePages,
  addJobPages,
  addDoorPages,
  addReportPages,
  addPartnerPages,
  addWebhookPages,
  addDeliveryPages,
  addAccessPages,
  addAuditPages,
  addHealthPages,
  addLivePages,
  addAccount,
  addPreferences,
];

/** Serves the requests by route and status, their times, the connections to Postgres and the process itself. */
function serveMetrics(app: FastifyInstance, db: Database, { CONSOLE_HOST, METRICS_PORT }: ConsoleConfig) {
  const metrics = new Metrics('console');
  const count = countRequests(metrics);
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    count({ route, code: String(reply.statusCode), ms: reply.elapsedTime });
    done();
  });
  metrics.pools([['main', db]], connectionsOf);
  return serveHealth({ host: CONSOLE_HOST, port: METRICS_PORT, metrics });
}

/** Answers problems as a page to browsers, and as JSON to others. A browser that is not signed in gets the sign-in. */
function answerProblems(app: FastifyInstance, log: Logger, provider: Provider | undefined) {
  app.setNotFoundHandler(() => {
    throw new Refusal(404, 'No such page');
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const problem = problemOf(error, request, log);
    const { status, title, detail } = problem;
    const isApi = request.url.startsWith('/operator/');
    if (isApi) return reply.code(status).type('application/problem+json').send(JSON.stringify(problem));
    if (status === 401) return askToSignIn(request, reply, provider);
    const { words } = request.viewer;
    const { events } = words.shell.pages;
    const why = detail ? alertHtml(ruleWords(words, detail)) : '';
    const parts = [why, html`<p><a href="/">${events}</a></p>`];
    return sendPage(reply.code(status), { title: ruleWords(words, title), parts });
  });
}

const ASSETS = { 'console.css': 'text/css; charset=utf-8', 'console.js': 'text/javascript; charset=utf-8' };

function addAssets(app: FastifyInstance) {
  for (const [name, type] of Object.entries(ASSETS)) {
    const content = readFileSync(new URL(`../browser/${name}`, import.meta.url));
    app.get(`/assets/${name}`, (_request, reply) =>
      reply.type(type).header('cache-control', 'max-age=60').send(content),
    );
  }
}
