import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** How a process is, and what that rests on. */
export interface Health<Progress = unknown> {
  /** ok; blocked: a dependency is away, a restart would not help; stalled: work is waiting and nothing moves. */
  status: 'ok' | 'blocked' | 'stalled';
  progress: Progress;
}

/** Answers a request; false: it is none of its own. */
export type Page = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

interface HealthOptions {
  readHealth: () => Promise<Health>;
  /** In the text format of Prometheus. */
  readMetrics?: () => Promise<string>;
  pages?: readonly Page[];
}

/**
 * Serves /health/live (503 only when stalled: restart it), /health/ready (503 when stalled or blocked), /metrics, and what else a
 * process shows to its operators.
 */
export function serveHealth({ readHealth, readMetrics, pages = [] }: HealthOptions): Server {
  // Once for all who wait: anybody may ask, as often as they like, and it takes a connection of those that work.
  const healthOnce = once(readHealth);
  const metricsOnce = readMetrics && once(readMetrics);
  return createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    if (path === '/health/live' || path === '/health/ready') void answerHealth(response, path, healthOnce());
    else if (path === '/metrics' && metricsOnce) void answerMetrics(response, metricsOnce());
    else if (!pages.some((page) => page(request, response, path))) response.writeHead(404).end();
  });
}

function once<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let reading: Promise<Answer> | null = null;
  return () => (reading ??= read().finally(() => (reading = null)));
}

async function answerHealth(response: ServerResponse, path: string, read: Promise<Health>): Promise<void> {
  const health = await read.catch(() => null);
  // The answer rests on nothing, so it is no reason to restart the process.
  if (health === null) return void response.writeHead(path === '/health/live' ? 200 : 503).end();
  const isWell = path === '/health/live' ? health.status !== 'stalled' : health.status === 'ok';
  response.writeHead(isWell ? 200 : 503, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(health));
}

async function answerMetrics(response: ServerResponse, read: Promise<string>): Promise<void> {
  try {
    const text = await read;
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
  } catch {
    response.writeHead(503).end();
  }
}
