import {
  formatTimestamp,
  type Webhook,
  type WebhookAttempt,
  type WebhookEventType,
  type WebhookWithSecret,
} from '@floodgate/contract';
import type { NewEndpoint } from './actions/create.ts';
import type { Endpoint, listAttempts } from './endpoints.ts';
import { publicKeyText, secretText } from './signatures.ts';

/** Returns an endpoint as its partner sees it. */
export function webhookOf(endpoint: Endpoint, now = Date.now()): Webhook {
  const { state, failingSince, nextAt } = endpoint;
  const isScheduled = state === 'active' && nextAt.getTime() > now;
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    types: endpoint.types as WebhookEventType[],
    entriesPerMessage: endpoint.entryLimit,
    state,
    disabledReason: state === 'disabled' ? (endpoint.disabledReason as Webhook['disabledReason']) : null,
    cursor: String(endpoint.cursor),
    failures: endpoint.failures,
    dateFailing: failingSince && formatTimestamp(failingSince),
    dateNextAttempt: isScheduled ? formatTimestamp(nextAt) : null,
    publicKey: publicKeyText(endpoint.publicKey),
    dateCreated: formatTimestamp(endpoint.createdAt),
  };
}

/** Returns the same with its new secret. */
export const withSecret = ({ endpoint, keys }: NewEndpoint): WebhookWithSecret => ({
  ...webhookOf(endpoint),
  publicKey: publicKeyText(keys.publicKey),
  secret: secretText(keys.secret),
});

type AttemptRow = Awaited<ReturnType<typeof listAttempts>>[number];

const cursorOf = (offset: number | null) => (offset === null ? null : String(offset));

/** Returns an attempt as its partner sees it. */
export const attemptOf = (attempt: AttemptRow): WebhookAttempt => ({
  messageId: attempt.messageId,
  previousCursor: cursorOf(attempt.after),
  cursor: cursorOf(attempt.last),
  entries: attempt.entries,
  dateAttempted: formatTimestamp(attempt.at),
  milliseconds: attempt.tookMs,
  outcome: attempt.outcome as WebhookAttempt['outcome'],
  httpStatus: attempt.httpStatus,
  error: attempt.error,
});
