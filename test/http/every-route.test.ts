import type { TSchema } from '@sinclair/typebox';
import { expect, onTestFinished } from 'vitest';
import { addDevice, addGate, DoorDevice } from '../harness/door-device.ts';
import { eventTest } from '../harness/event-test.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { listingRoutes, type ListedRoute } from '../harness/listed-routes.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import type { Answer } from '../harness/partner-client.ts';

const { test, given } = eventTest({ sharesEvent: true });

// The rules that hold for every route of the API, also for the next one. apps/docs/contribute/recipes.md lists them.

/** The routes that anybody can call, with the reason. */
const PUBLIC = [
  ['GET /health/live', 'load balancers have no key'],
  ['GET /health/ready', 'load balancers have no key'],
  ['GET /api/v1/openapi.json', 'describes the API, for people who have no key yet'],
  ['GET /', 'leads to the reference'],
  ['GET /favicon.ico', 'browsers ask for it'],
  ['GET /docs', 'describes the API, for people who have no key yet'],
  ['GET /docs/*', 'files of that page'],
  ['GET /.well-known/floodgate/pass-keys.json', 'public keys'],
  ['GET /door', 'the scanner: every device gets the same files'],
  ['GET /door/*', 'the scanner: every device gets the same files'],
  ['GET /door/v1/openapi.json', 'describes the API of the doors'],
  ['POST /door/v1/enrol', 'the device has a code and no token yet'],
] as const;

/** A public route has at most so many bytes of body: the buffers of a connection hold as many anyway. */
const PUBLIC_BODY_BYTES = 4 * 1024;
/** An answer about invalid fields has at most so many characters, whatever was sent. */
const MESSAGE_LIMIT = 16 * 1024;

let api: InProcessApi;
let routes: ListedRoute[];
let device: DoorDevice;

test.beforeAll(async () => {
  const started = await listingRoutes(() => startInProcessApi({ DATABASE_URL: given.database.url }));
  api = started.result;
  // HEAD is added by Fastify to each GET.
  routes = started.routes.filter(({ method }) => method !== 'HEAD');
  const { db } = given.database;
  const { eventId } = given.gala;
  device = new DoorDevice(api.baseUrl);
  await device.enrol((await addDevice(db, eventId, [await addGate(db, eventId)])).code);
});
test.afterAll(() => api.close());

const nameOf = ({ method, url }: ListedRoute) => `${method} ${url}`;

/** Sends a head, and what follows, on a connection of its own. */
async function send(
  { method, url }: ListedRoute,
  headers: Record<string, string>,
  body = '',
): Promise<Answer> {
  const connection = await RawConnection.open(api.baseUrl);
  onTestFinished(() => connection.close());
  // No route checks its parameters before the body is read and its lists are counted.
  const path = url.replaceAll(/:\w+|\*/g, '1');
  connection.send(requestText(`${method} ${path}`, { host: 'api', ...headers }, body));
  return connection.answer();
}

const isPublic = ({ url, method }: ListedRoute) =>
  PUBLIC.some(([name]) =>
    name.endsWith('/*')
      ? nameOf({ url, method } as ListedRoute).startsWith(name.slice(0, -1))
      : name === `${method} ${url}`,
  );

test('without a key or a token every route answers 20, except those that are public for a reason', async () => {
  const open: string[] = [];
  for (const route of routes) {
    const answer = await send(route, { 'content-length': '0' });
    if (answer.status !== 401) open.push(nameOf(route));
  }
  const listed = new Set(routes.map(nameOf));
  for (const [name] of PUBLIC.filter(([one]) => !one.endsWith('*'))) expect(listed).toContain(name);
  const unknown = open.filter((name) => !routes.some((route) => nameOf(route) === name && isPublic(route)));
  expect(unknown).toEqual([]);
  expect(routes.length - open.length).toBeGreaterThan(30);
});

test('a large body for a public route is refused by its head', async () => {
  const withBody = routes.filter((route) => isPublic(route) && route.method !== 'GET');
  expect(withBody.length).toBeGreaterThan(0);
  for (const route of withBody) {
    const size = { 'content-type': 'application/json', 'content-length': String(PUBLIC_BODY_BYTES + 1) };
    expectFailure(await send(route, size), '10', 413);
  }
});

/** The lists of a schema with a limit, as paths of names. An item is `0`. */
function listsOf(schema: TSchema | undefined, at: string[] = []): { path: string[]; schema: TSchema }[] {
  if (!schema) return [];
  const own = schema['type'] === 'array' ? [{ path: at, schema }] : [];
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>);
  const variants = [schema.anyOf, schema.allOf, schema.oneOf].flat() as (TSchema | undefined)[];
  return [
    ...own,
    ...listsOf(schema['items'] as TSchema | undefined, [...at, '0']),
    ...fields.flatMap(([name, field]) => listsOf(field, [...at, name])),
    ...variants.flatMap((variant) => listsOf(variant, at)),
  ];
}

const listsOfRoutes = () =>
  routes.flatMap((route) =>
    listsOf(route.options.schema?.body as TSchema | undefined).map((list) => ({ route, ...list })),
  );

/** Returns a body with this value at the path. */
const bodyWith = (path: string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), value);

function post(route: ListedRoute, body: unknown): Promise<Answer> {
  const text = JSON.stringify(body);
  const { secretKey, eventRef } = given.gala;
  const own = route.url.startsWith('/door/')
    ? device.credentials(route.method, route.url)
    : { 'x-secret-key': secretKey, 'x-event-ref': eventRef };
  const size = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  return send(route, { ...own, ...size, 'x-error-details': 'json' }, text);
}

test('every list in a body has a limit', () => {
  const lists = listsOfRoutes();
  expect(lists.length).toBeGreaterThan(4);
  for (const { route, path, schema } of lists)
    expect(schema['maxItems'], `${nameOf(route)}: ${path.join('.')}`).toEqual(expect.any(Number));
});

test.for([
  ['numbers', 1],
  ['empty objects', {}],
  ['lists', [[]]],
  ['texts', '\u0000'],
] as const)('of a list of %s that is too long no item is looked at, on any route', async ([, junk]) => {
  for (const { route, path, schema } of listsOfRoutes()) {
    const limit = schema['maxItems'] as number;
    const field = path.join('/');
    const answer = await post(route, bodyWith(path, Array(limit + 1).fill(junk)));
    expectFailure(answer, '11');
    const faults = JSON.parse(answer.headers.get('x-invalid-fields')!) as { field: string; rule: string }[];
    expect(faults, nameOf(route)).toContainEqual({ field, rule: 'maxItems' });
    expect(
      faults.filter((fault) => fault.field.startsWith(`${field}/`)),
      nameOf(route),
    ).toEqual([]);
  }
});

test('the longest list of junk that a body can hold gets a short answer, on any route', async () => {
  for (const { route, path } of listsOfRoutes()) {
    const most = route.options.bodyLimit ?? PUBLIC_BODY_BYTES;
    const answer = await post(route, bodyWith(path, Array(Math.floor(most / 2) - 100).fill(1)));
    expect([413, 422], nameOf(route)).toContain(answer.status);
    expect(answer.text.length).toBeLessThan(MESSAGE_LIMIT);
  }
});

test('a list of as many junk items as are allowed gets an answer of bounded length, on any route', async () => {
  for (const { route, path, schema } of listsOfRoutes()) {
    const answer = await post(
      route,
      bodyWith(
        path,
        Array.from({ length: schema['maxItems'] as number }, () => ({})),
      ),
    );
    // In a bulk call each registration has its own answer.
    if (answer.body.responseCode === '00') continue;
    expectFailure(answer, '11');
    expect(answer.text.length, nameOf(route)).toBeLessThan(MESSAGE_LIMIT);
  }
});
