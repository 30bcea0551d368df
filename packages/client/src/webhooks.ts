import { post, type Ask } from './ask.ts';
import type { WebhookChange, WebhookRequest } from './contract.ts';
import type { CallOptions } from './options.ts';

const ALL = '/api/v1/webhooks';

/** Returns the methods for webhooks. */
export function createWebhooks(ask: Ask) {
  const one = (id: string, rest = '') => `${ALL}/${encodeURIComponent(id)}${rest}`;
  const once = (path: string, body?: object) => ({ ...post(path, body), isOnce: true });
  return {
    list: (options?: CallOptions) => ask('listWebhooks', 'webhooks', { path: ALL }, options),
    /** Creates a webhook. Only this result contains its secret. */
    create: (request: WebhookRequest, options?: CallOptions) =>
      ask('createWebhook', 'webhook', once(ALL, request), options),
    get: (id: string, options?: CallOptions) => ask('getWebhook', 'webhook', { path: one(id) }, options),
    update: (id: string, change: WebhookChange, options?: CallOptions) =>
      ask('changeWebhook', 'webhook', { ...post(one(id), change), method: 'PATCH' }, options),
    pause: (id: string, options?: CallOptions) =>
      ask('pauseWebhook', 'webhook', post(one(id, '/pause')), options),
    resume: (id: string, options?: CallOptions) =>
      ask('resumeWebhook', 'webhook', post(one(id, '/resume')), options),
    /** Deletes a webhook. Returns its last state. */
    delete: (id: string, options?: CallOptions) =>
      ask('deleteWebhook', 'webhook', { path: one(id), method: 'DELETE' }, options),
    /** Sends a message of the type `webhook.test`. */
    test: (id: string, options?: CallOptions) => ask('testWebhook', 'test', once(one(id, '/test')), options),
    /** Creates a new secret. Messages have both signatures for `overlapHours`, 24 by default. */
    rotate: (id: string, { overlapHours, ...options }: CallOptions & { overlapHours?: number } = {}) =>
      ask('rotateWebhookSecret', 'webhook', once(one(id, '/rotate'), { overlapHours }), options),
    /** Sends all entries since a time again. */
    replay: (id: string, since: Date, options?: CallOptions) =>
      ask('replayWebhook', 'webhook', once(one(id, '/replay'), { since }), options),
    /** Lists the latest attempts, latest first; 100 by default. */
    attempts: (id: string, { limit = 100, ...options }: CallOptions & { limit?: number } = {}) =>
      ask('listWebhookAttempts', 'attempts', { path: one(id, `/attempts?limit=${limit}`) }, options),
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;
