// A receiver of webhooks, in a process of its own. Started by webhooks.ts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import type { Received } from './webhooks.ts';

const TELL_MS = 20;
/** In order, what a message says of its range. */
const RANGE = /"previousCursor":"(\d+)","cursor":"(\d+)"/;

const received: Record<string, Received> = {};

// By path: /live takes everything, /slow answers late, /cut never.
const server = createServer((request, response) => {
  const path = request.url!;
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (path.startsWith('/cut')) return void request.socket.destroy();
    if (path.startsWith('/slow')) return void setTimeout(() => response.writeHead(204).end(), 3_000);
    const [, previous, cursor] = RANGE.exec(Buffer.concat(chunks).toString())!;
    const known = (received[path] ??= { messages: 0, breaks: 0, cursor: 0, firstAt: Date.now(), lastAt: 0 });
    if (known.cursor !== Number(previous)) known.breaks += 1;
    known.cursor = Number(cursor);
    known.messages += 1;
    known.lastAt = Date.now();
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
setInterval(() => process.send!({ received }), TELL_MS);
process.on('disconnect', () => process.exit());
