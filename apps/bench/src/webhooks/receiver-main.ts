// A receiver of webhooks in a separate process. Started by webhooks.ts.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import type { Received } from './webhooks.ts';

const TELL_MS = 20;
/** The range of a message. */
const RANGE = /"previousCursor":"(\d+)","cursor":"(\d+)"/;

const received: Record<string, Received> = {};

/** Answers by path: /live accepts everything, /slow answers late, /cut never answers. */
function answer(path: string, body: Buffer, response: ServerResponse): void {
  if (path.startsWith('/cut')) response.socket!.destroy();
  else if (path.startsWith('/slow')) setTimeout(() => response.writeHead(204).end(), 3_000);
  else {
    note(path, body.toString());
    response.writeHead(204).end();
  }
}

function note(path: string, body: string): void {
  const [, previous, cursor] = RANGE.exec(body)!;
  const known = (received[path] ??= {
    messages: 0,
    breaks: 0,
    cursor: 0,
    firstAt: Date.now(),
    lastAt: 0,
  });
  if (known.cursor !== Number(previous)) known.breaks += 1;
  known.cursor = Number(cursor);
  known.messages += 1;
  known.lastAt = Date.now();
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(request.url!, Buffer.concat(chunks), response));
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
setInterval(() => process.send!({ received }), TELL_MS);
process.on('disconnect', () => process.exit());
