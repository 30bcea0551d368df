import { COMMON_FAILURES, type FailureCode } from '@floodgate/contract';

// What the routes of webhooks have in common.

export const tags = ['Webhooks'];
/** Of a route that is about one webhook. */
export const failures: FailureCode[] = [...COMMON_FAILURES, '11', '70'];
export const ONE = '/webhooks/:webhookId';
