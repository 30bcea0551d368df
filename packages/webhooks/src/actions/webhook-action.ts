import type { Static, TObject } from '@sinclair/typebox';
import { defineAction, type Actor } from '@floodgate/audit';
import type { FailureCode, WebhookPath } from '@floodgate/contract';
import type { AuditedState, Database } from '@floodgate/database';
import { lockConsumer } from '@floodgate/journal';
import { findEndpoint, findEndpointAnywhere, findEndpointIn, type Endpoint } from '../endpoints.ts';

// What the actions on one webhook have in common. A partner reaches only its own webhooks under the event of the request.

/** An expected outcome: the webhook stays as it is. The code is for a partner, the reason for an operator. */
export interface Refused {
  refused: FailureCode;
  reason: string;
}

export const isRefused = (outcome: object): outcome is Refused => 'refused' in outcome;

const NO_SUCH_WEBHOOK: Refused = { refused: '70', reason: 'no such webhook' };

/** The fields of an endpoint that the audit log keeps. URLs may contain secrets. */
export const audited = ({
  eventId,
  partnerId,
  types,
  entryLimit,
  state,
  pausedBy,
  failures,
  failingSince,
}: Endpoint): AuditedState => {
  return { eventId, partnerId, types, entryLimit, state, pausedBy, failures, failingSince };
};

export const subjectOf = (id: string) => `webhook:${id}`;

/** Every action on one webhook returns it as it is afterwards. After `delete` it is as it was before. */
export interface Changed {
  endpoint: Endpoint;
}

interface WebhookAction<Input extends TObject, Extra extends object> {
  name: string;
  /** WebhookPath, with further fields. */
  input: Input;
  check?: (input: Static<Input>) => Record<string, string>;
  change: (
    transaction: Database,
    endpoint: Endpoint,
    input: Static<Input>,
    actor: Actor,
  ) => Promise<Extra | Refused>;
  /** Returns what the audit log records besides the state before and after. */
  details?: (input: Static<Input>, extra: Extra) => AuditedState | undefined;
}

/**
 * Defines an action on one webhook. Its consumer is locked first, as a delivery does (webhook_delivered): with another order
 * the two could wait for each other. So nothing else changes between the state before and the state after, and both are recorded.
 */
export const onWebhook = <Input extends TObject, Extra extends object>({
  name,
  change,
  details,
  ...declared
}: WebhookAction<Input, Extra>) =>
  defineAction<Input, (Changed & Extra) | Refused>({
    ...declared,
    name: `webhook.${name}`,
    run: async (transaction, input, note, actor) => {
      const { webhookId } = input as Static<typeof WebhookPath>;
      const before = await lockEndpoint(transaction, webhookId, actor);
      if (!before) return NO_SUCH_WEBHOOK;
      const extra = await change(transaction, before, input, actor);
      if (isRefused(extra)) return extra;
      const after = await findEndpointIn(transaction, before.shardId, webhookId);
      const more = details?.(input, extra);
      const isChanged = JSON.stringify(after && audited(after)) !== JSON.stringify(audited(before));
      if (isChanged || more)
        note(subjectOf(webhookId), {
          before: audited(before),
          ...(after && { after: { ...audited(after), ...more } }),
        });
      return { endpoint: after ?? before, ...extra };
    },
  });

async function lockEndpoint(transaction: Database, id: string, actor: Actor): Promise<Endpoint | undefined> {
  const found =
    typeof actor === 'string'
      ? await findEndpointAnywhere(transaction, id)
      : await findEndpoint(transaction, actor, id);
  if (!found || !(await lockConsumer(transaction, found))) return undefined;
  // It may have changed while the lock was awaited.
  return findEndpointIn(transaction, found.shardId, id);
}
