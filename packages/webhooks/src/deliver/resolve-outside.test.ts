import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { expect, onTestFinished, test } from 'vitest';
import { resolveOutside } from './resolve-outside.ts';

const A_RECORD = 1;
/** The address of every name. */
const ADDRESS = [10, 1, 2, 3];

/** A name server that has one IPv4 address for every name, and does not answer for names that start with "silent". */
async function startNameServer(): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const name = query.subarray(12, query.indexOf(0, 12) + 1);
    if (name.toString('latin1', 1).startsWith('silent')) return;
    const question = query.subarray(12, 12 + name.length + 4);
    const isAsked = question.readUInt16BE(name.length) === A_RECORD;
    // The id of the query; flags of an answer; numbers of questions and answers (RFC 1035, 4.1).
    const header = Buffer.concat([
      query.subarray(0, 2),
      Buffer.from([0x81, 0x80, 0, 1, 0, Number(isAsked), 0, 0, 0, 0]),
    ]);
    const answer = Buffer.from([0xc0, 12, 0, A_RECORD, 0, 1, 0, 0, 0, 60, 0, 4, ...ADDRESS]);
    socket.send(Buffer.concat([header, question, ...(isAsked ? [answer] : [])]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

const lookUp = (host: string, server: string): Promise<LookupAddress[] | string> =>
  resolveOutside([server])(host).catch((error: NodeJS.ErrnoException) => error.code!);

// The resolver fails after two tries, which take 4.5 s and more. The default timeout of a test is too close to that.
test(
  'a name is resolved while the servers of other names do not answer, and those names time out',
  { timeout: 30_000 },
  async () => {
    const server = await startNameServer();
    const ended: string[] = [];
    const silent = Array.from({ length: 50 }, (_, index) => `silent-${index}.floodgate-tests.org`);
    const all = [...silent, 'partner.floodgate-tests.org'].map(async (host) => {
      const found = await lookUp(host, server);
      ended.push(host);
      return found;
    });
    expect(await all.at(-1)).toEqual([{ address: ADDRESS.join('.'), family: 4 }]);
    expect(ended).toEqual(['partner.floodgate-tests.org']);
    expect(new Set(await Promise.all(all.slice(0, -1)))).toEqual(new Set(['ETIMEOUT']));
  },
);

test('names of this machine are resolved without a name server', async () => {
  for (const host of ['localhost', 'LOCALHOST.', 'api.localhost'])
    expect(await lookUp(host, '127.0.0.1:1')).toEqual([{ address: '127.0.0.1', family: 4 }]);
});
