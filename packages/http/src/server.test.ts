import { Type } from '@sinclair/typebox';
import { createLogger } from '@floodgate/service';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createServer } from './server.ts';

const Guest = Type.Object({
  emailAddress: Type.String({ format: 'email', description: 'Required, an e-mail address' }),
});
const Party = Type.Object({ guests: Type.Array(Guest, { description: 'Required, a list of guests' }) });

const app = createServer(createLogger('test', 'silent'));
app.post(
  '/parties',
  {
    schema: {
      body: Party,
      headers: Type.Object({ 'x-color': Type.Optional(Type.Literal('red', { title: 'X-Color: red' })) }),
      querystring: Type.Object({ day: Type.String({ description: 'Required, a day' }) }),
    },
    bodyLimit: 2_048,
  },
  (_request, reply) => reply.send('done'),
);
app.get('/secret', () => Promise.reject(Object.assign(new Error('no entry to /etc'), { statusCode: 403 })));
app.get('/odd', () => Promise.reject(Object.assign(new Error('odd /etc'), { statusCode: 418 })));
app.get('/wanted', async (_request, reply) => {
  await Promise.resolve();
  return reply.fail('34');
});
afterAll(() => app.close());

async function post(body: unknown, { headers = {}, query = '?day=monday' } = {}) {
  const host = { host: 'api', 'content-type': 'application/json' };
  const payload = JSON.stringify(body);
  const answer = await app.inject({
    method: 'POST',
    url: `/parties${query}`,
    headers: { ...host, ...headers },
    payload,
  });
  return [answer.statusCode, answer.json<{ responseMessage: string }>().responseMessage];
}

const right = { emailAddress: 'a@b.c' };

test('the message about an invalid field deep in a body has its path and the rule of its schema', async () => {
  const guests = [right, { emailAddress: 'a@localhost' }, {}];
  expect(await post({ guests })).toEqual([
    422,
    'guests[1].emailAddress: required, an e-mail address; guests[2].emailAddress: required, an e-mail address',
  ]);
  expect(await post({ guests: 7 })).toEqual([422, 'guests: required, a list of guests']);
  expect(await post({ guests: [7] })).toEqual([422, 'guests[0]: not valid']);
  expect(await post([])).toEqual([422, 'The body must be a JSON object']);
});

test('the rules of invalid headers follow those of the body, or stand alone', async () => {
  const headers = { 'x-color': 'blue' };
  expect(await post({}, { headers })).toEqual([422, 'guests: required, a list of guests; X-Color: red']);
  expect(await post({ guests: [] }, { headers })).toEqual([422, 'X-Color: red']);
  expect((await app.inject({ ...party([right]), headers: { host: 'api', 'x-color': 'red' } })).body).toBe(
    'done',
  );
});

const party = (guests: object[]) => ({
  method: 'POST' as const,
  url: '/parties?day=monday',
  payload: { guests },
});

test('the message about an invalid query has the rule of its schema', async () => {
  expect(await post({ guests: [] }, { query: '' })).toEqual([422, 'day: required, a day']);
});

test("the message about a too large body states the route's limit", async () => {
  expect(await post({ guests: [], more: 'x'.repeat(2_048) })).toEqual([413, 'The body is larger than 2 KiB']);
});

test.each([
  ['/secret', 404, '60', 'No such route'],
  ['/odd', 400, '10', 'The request is not well-formed'],
  ['/wanted', 404, '34', 'No such registration'],
])('GET %s is answered %i, without the message of the error', async (url, status, code, message) => {
  const answer = await app.inject({ url, headers: { host: 'api' } });
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toEqual({ responseCode: code, responseMessage: message, responseData: null });
});

test('a request must arrive within 10 s, and its headers within 5 s', () => {
  const { headersTimeout, requestTimeout } = app.server;
  expect({ headersTimeout, requestTimeout }).toEqual({ headersTimeout: 5_000, requestTimeout: 10_000 });
});

test.each([
  ['headers', 'POST /parties HTTP/1.1\r\nhost: api\r\n', 'x-more: 1\r\n'],
  ['body', 'POST /parties HTTP/1.1\r\nhost: api\r\ncontent-length: 1000\r\n\r\n', ' '],
])(
  'a connection that sends the %s drop by drop is told and cut; others are served',
  async (_what, start, more) => {
    const server = createServer(createLogger('test', 'silent'));
    server.get('/', () => 'hello');
    server.post('/parties', () => 'hello');
    // The limits of above, so short that the test does not have to wait for them. Node.js checks them once per second.
    server.server.headersTimeout = 20;
    server.server.requestTimeout = 20;
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    socket.write(start);
    const drops = setInterval(() => socket.write(more), 5);
    await closed;
    clearInterval(drops);
    expect(received).toContain('The request did not arrive in time');
    expect((await server.inject({ url: '/', headers: { host: 'api' } })).statusCode).toBe(200);
    await server.close();
  },
);
