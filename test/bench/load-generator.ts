import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One kind of request, sent over and over. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  body: string;
  connections: number;
  seconds: number;
}

export interface LoadResult {
  /** Answers with HTTP 200. */
  succeeded: number;
  failed: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/**
 * Keeps every connection busy with one request after the other (a closed loop). Written on bare sockets: a full HTTP
 * client would take more of the machine than what is measured.
 */
export async function generateLoad(load: Load): Promise<LoadResult> {
  const request = Buffer.from(rawRequest(load));
  const endsAt = performance.now() + load.seconds * 1000;
  const clients = Array.from({ length: load.connections }, () => runClient(load.url, request, endsAt));
  const startedAt = performance.now();
  const results = await Promise.all(clients);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const latencies = results.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  const succeeded = latencies.length - failed;
  const quantile = (q: number) => latencies[Math.floor(q * (latencies.length - 1))] ?? Number.NaN;
  return {
    succeeded,
    failed,
    perSecond: succeeded / elapsedSeconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}

function rawRequest({ url, headers, body }: Load): string {
  const { pathname, host } = new URL(url);
  const all = {
    host,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

async function runClient(url: string, request: Buffer, endsAt: number) {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const latenciesMs: number[] = [];
  let failed = 0;
  let sentAt = performance.now();
  const send = () => {
    sentAt = performance.now();
    socket.write(request);
  };
  // Each answer is small and comes in one piece; one that did not would be counted as failed.
  socket.on('data', (chunk: Buffer) => {
    latenciesMs.push(performance.now() - sentAt);
    if (!chunk.subarray(0, 15).equals(OK)) failed += 1;
    if (performance.now() < endsAt) send();
    else socket.end();
  });
  send();
  await once(socket, 'close');
  return { latenciesMs, failed };
}

const OK = Buffer.from('HTTP/1.1 200 OK');
