import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Backlog } from '@floodgate/registrations';
import type { QueueCounts } from '@floodgate/queue';

/** What the judgement rests on. */
export interface Progress {
  /** Since a job was finished by this process, well or not. */
  idleMs: number;
  /** Since the relay's last round ended, well or not. */
  sinceRelayRoundMs: number;
  queue: 'up' | 'down';
  /** Of all workers together. Null where the queue does not answer. */
  jobs: QueueCounts | null;
  /** Null where Postgres does not answer. */
  backlog: Backlog | null;
}

export interface Health {
  /** ok; blocked: a dependency is away, a restart would not help; stalled: work is waiting and nothing moves. */
  status: 'ok' | 'blocked' | 'stalled';
  progress: Progress;
}

/**
 * Judges a worker by its progress: idle is fine, but not while batches wait and everything it needs is there. That the only
 * jobs left have failed and wait for their next attempt is no worker's fault.
 */
export function judge(progress: Progress, stalledAfterMs: number): Health {
  const { idleMs, sinceRelayRoundMs, queue, jobs, backlog } = progress;
  if (sinceRelayRoundMs > stalledAfterMs) return { status: 'stalled', progress };
  if (queue === 'down' || backlog === null) return { status: 'blocked', progress };
  const isWaiting = (backlog.oldestPendingMs ?? 0) > stalledAfterMs;
  const isBackingOff = jobs !== null && jobs.delayed > 0 && jobs.waiting + jobs.active === 0;
  const isStalled = isWaiting && idleMs > stalledAfterMs && !isBackingOff;
  return { status: isStalled ? 'stalled' : 'ok', progress };
}

/** Serves /health/live (503 only when stalled: restart it) and /health/ready (503 when stalled or blocked). */
export function serveHealth(readHealth: () => Promise<Health>): Server {
  let reading: Promise<Health> | null = null;
  // Once for all who wait: anybody may ask, as often as they like, and it takes a connection of those that finalize.
  const readOnce = () => (reading ??= readHealth().finally(() => (reading = null)));
  return createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/health/live' || path === '/health/ready') void answer(response, path, readOnce);
    else response.writeHead(404).end();
  });
}

async function answer(
  response: ServerResponse,
  path: string,
  readHealth: () => Promise<Health>,
): Promise<void> {
  const health = await readHealth();
  const isWell = path === '/health/live' ? health.status !== 'stalled' : health.status === 'ok';
  response.writeHead(isWell ? 200 : 503, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(health));
}
