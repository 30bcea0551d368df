import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { checkedAgent, type Reach } from './checked-agent.ts';
import type { Resolve } from './resolve-outside.ts';

const resolvingTo =
  (...addresses: string[]): Resolve =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

async function listen() {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

async function ask(reach: Reach, url: string, resolve?: Resolve): Promise<number | string> {
  const agent = checkedAgent(reach, resolve);
  onTestFinished(() => agent.destroy());
  const { origin, pathname: path } = new URL(url);
  return agent.request({ origin, path, method: 'GET' }).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    },
    (error: { code: string }) => error.code,
  );
}

test('an internal address is refused in every notation', async () => {
  const { port, requests } = await listen();
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
  ])
    expect([host, await ask('public', `https://${host}:${port}/`)]).toEqual([host, 'FORBIDDEN_ADDRESS']);
  expect(requests()).toBe(0);
});

test('a name that resolves to internal addresses is refused, and of several addresses only the allowed ones are used', async () => {
  const { port, requests } = await listen();
  const url = `https://partner.example:${port}/`;
  expect(await ask('public', url, resolvingTo('127.0.0.1'))).toBe('FORBIDDEN_ADDRESS');
  expect(await ask('public', url, resolvingTo('10.0.0.1', '::1'))).toBe('FORBIDDEN_ADDRESS');
  expect(await ask('public', url, resolvingTo())).toBe('FORBIDDEN_ADDRESS');
  expect(requests()).toBe(0);
  const inside = `http://partner.example:${port}/`;
  expect(await ask('private', inside, resolvingTo('203.0.114.1', '127.0.0.1'))).toBe(200);
  expect(await ask('private', inside, resolvingTo('203.0.114.1'))).toBe('FORBIDDEN_ADDRESS');
});

test('a public address requires https', async () => {
  expect(await ask('public', 'http://partner.example/', resolvingTo('203.0.114.1'))).toBe('HTTPS_REQUIRED');
});

test('in development every address can be reached', async () => {
  const { port } = await listen();
  expect(await ask('any', `http://127.0.0.1:${port}/`)).toBe(200);
  expect(await ask('any', `http://partner.example:${port}/`, resolvingTo('127.0.0.1'))).toBe(200);
});

test('HTTP/2 is not offered', async () => {
  let offered = '';
  const server = createTcpServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', (hello) => {
        offered = hello.toString('latin1');
        socket.destroy();
      }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  await ask('private', `https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(offered).toContain('\x08http/1.1');
  expect(offered).not.toContain('\x02h2');
});
