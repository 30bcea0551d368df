import type { Ask } from './queries.ts';
import type { CallOptions } from './client.ts';
import type { WebhookChange, WebhookRequest } from './contract.ts';
import type { ResultOf } from './results.ts';

/** The webhooks of the partner under the event. */
export interface Webhooks {
  list(options?: CallOptions): Promise<ResultOf<'listWebhooks'>>;
  /** Creates a webhook. Only this answer has its secret. */
  create(request: WebhookRequest, options?: CallOptions): Promise<ResultOf<'createWebhook'>>;
  get(id: string, options?: CallOptions): Promise<ResultOf<'getWebhook'>>;
  update(id: string, change: WebhookChange, options?: CallOptions): Promise<ResultOf<'changeWebhook'>>;
  pause(id: string, options?: CallOptions): Promise<ResultOf<'pauseWebhook'>>;
  resume(id: string, options?: CallOptions): Promise<ResultOf<'resumeWebhook'>>;
  /** Deletes a webhook. Returns its last state. */
  delete(id: string, options?: CallOptions): Promise<ResultOf<'deleteWebhook'>>;
  /** Sends a message of the type `webhook.test`. */
  test(id: string, options?: CallOptions): Promise<ResultOf<'testWebhook'>>;
  /** Makes a new secret. Messages carry both signatures for `overlapHours`, 24 by default. */
  rotate(
    id: string,
    options?: CallOptions & { overlapHours?: number },
  ): Promise<ResultOf<'rotateWebhookSecret'>>;
  /** Sends all changes since a time again. */
  replay(id: string, since: Date, options?: CallOptions): Promise<ResultOf<'replayWebhook'>>;
  /** Lists the latest attempts, latest first; 100 by default. */
  attempts(id: string, options?: CallOptions & { limit?: number }): Promise<ResultOf<'listWebhookAttempts'>>;
}

const ALL = '/api/v1/webhooks';

/** Returns the methods for webhooks. */
export function createWebhooks(ask: Ask): Webhooks {
  const one = (id: string) => `${ALL}/${encodeURIComponent(id)}`;
  const post = (path: string, body?: object) => ({
    method: 'POST' as const,
    path,
    ...(body && { body: JSON.stringify(body) }),
  });
  return {
    list: ({ signal } = {}) => ask('listWebhooks', ALL, signal),
    create: (request, { signal } = {}) =>
      ask('createWebhook', { ...post(ALL, request), isOnce: true }, signal),
    get: (id, { signal } = {}) => ask('getWebhook', one(id), signal),
    update: (id, change, { signal } = {}) =>
      ask('changeWebhook', { ...post(one(id), change), method: 'PATCH' }, signal),
    pause: (id, { signal } = {}) => ask('pauseWebhook', post(`${one(id)}/pause`), signal),
    resume: (id, { signal } = {}) => ask('resumeWebhook', post(`${one(id)}/resume`), signal),
    delete: (id, { signal } = {}) => ask('deleteWebhook', { method: 'DELETE', path: one(id) }, signal),
    test: (id, { signal } = {}) => ask('testWebhook', { ...post(`${one(id)}/test`), isOnce: true }, signal),
    rotate: (id, { overlapHours, signal } = {}) =>
      ask('rotateWebhookSecret', { ...post(`${one(id)}/rotate`, { overlapHours }), isOnce: true }, signal),
    replay: (id, since, { signal } = {}) =>
      ask('replayWebhook', { ...post(`${one(id)}/replay`, { since }), isOnce: true }, signal),
    attempts: (id, { limit = 100, signal } = {}) =>
      ask('listWebhookAttempts', `${one(id)}/attempts?limit=${limit}`, signal),
  };
}
