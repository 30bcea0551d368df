import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The state of a process, and the facts behind it. */
export interface Health<Progress = unknown> {
  /** ok; blocked: a dependency is down, a restart would not help; stalled: work waits and nothing moves. */
  status: 'ok' | 'blocked' | 'stalled';
  progress: Progress;
}

/** Answers a request; returns false if the path is not its own. */
export type Page = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

interface HealthOptions {
  host: string;
  port: number;
  readHealth: () => Promise<Health>;
  /** In the text format of Prometheus. */
  readMetrics?: () => Promise<string>;
  pages?: readonly Page[];
}

/**
 * Serves /health/live (503 only when stalled: restart it), /health/ready (503 when stalled or blocked), /metrics, and the pages of
 * a process for its operators. Resolves when it listens. Disposing of it closes it.
 */
export async function serveHealth({ host, port, readHealth, readMetrics, pages = [] }: HealthOptions) {
  // One reading for all callers that wait: anybody may ask, as often as they like, and it takes a connection from the work.
  const healthOnce = shareCalls(readHealth);
  const metricsOnce = readMetrics && shareCalls(readMetrics);
  const server = createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    if (path === '/health/live' || path === '/health/ready') void answerHealth(response, path, healthOnce());
    else if (path === '/metrics' && metricsOnce) void answerMetrics(response, metricsOnce());
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
const METRICS_TYPE = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

/** Returns what reads once for all callers that wait. */
export function shareCalls<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let reading: Promise<Answer> | null = null;
  return () => (reading ??= read().finally(() => (reading = null)));
}

async function answerHealth(response: ServerResponse, path: string, read: Promise<Health>): Promise<void> {
  // If nothing is known, a restart would not help.
  const health = await read.catch(() => null);
  const status = health?.status ?? 'blocked';
  const isWell = status === 'ok' || (status === 'blocked' && path === '/health/live');
  response.writeHead(isWell ? 200 : 503, JSON_TYPE).end(JSON.stringify(health));
}

async function answerMetrics(response: ServerResponse, read: Promise<string>): Promise<void> {
  const text = await read.catch(() => undefined);
  response.writeHead(text === undefined ? 503 : 200, METRICS_TYPE).end(text);
}
