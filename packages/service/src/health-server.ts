import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The module node:http. An import of it by name also loads the fetch of Node.js, which takes about 5 MB of
 * memory in each process.
 */
export const http = process.getBuiltinModule('node:http');

/** The state of a process and its evidence. */
export interface Health<Progress = unknown> {
  /** ok; blocked: a dependency is down and a restart would not help; stalled: work waits without progress. */
  status: 'ok' | 'blocked' | 'stalled';
  progress: Progress;
}

/** Answers a request. Returns false for a path that it does not serve. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

interface HealthOptions {
  host: string;
  port: number;
  /** Absent: the health is served elsewhere. */
  readHealth?: () => Promise<Health>;
  metrics: { contentType: string; text(): Promise<string> };
  pages?: readonly RequestHandler[];
}

/**
 * Serves /health/live (503 when stalled: restart the process), /health/ready (503 when stalled or blocked),
 * /metrics, and the process's pages for operators. Resolves when the server listens. Disposing of the result
 * closes the server.
 */
export async function serveHealth({ host, port, readHealth, metrics, pages = [] }: HealthOptions) {
  // Concurrent requests share one read: anybody can send any number of them, and each read uses a database
  // connection.
  const healthOnce = readHealth && shareCalls(readHealth);
  const metricsOnce = shareCalls(() => metrics.text());
  const server = http.createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    const isHealth = path === '/health/live' || path === '/health/ready';
    if (isHealth && healthOnce) void answerHealth(response, path, healthOnce());
    else if (path === '/metrics') void answerMetrics(response, metrics.contentType, metricsOnce());
    else if (!pages.some((page) => page(request, response, path))) response.writeHead(404).end();
  });
  await once(server.listen(port, host), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** Returns a function whose concurrent calls share one read. */
export function shareCalls<Answer>(read: () => Promise<Answer>) {
  let reading: Promise<Answer> | null = null;
  return () => (reading ??= read().finally(() => (reading = null)));
}

async function answerHealth(response: ServerResponse, path: string, read: Promise<Health>) {
  // An unknown state counts as blocked: a restart would not help.
  const health = await read.catch(() => null);
  const status = health?.status ?? 'blocked';
  const isWell = status === 'ok' || (status === 'blocked' && path === '/health/live');
  response.writeHead(isWell ? 200 : 503, JSON_TYPE).end(JSON.stringify(health));
}

async function answerMetrics(response: ServerResponse, type: string, read: Promise<string>) {
  const text = await read.catch(() => undefined);
  response.writeHead(text === undefined ? 503 : 200, { 'content-type': type }).end(text);
}
