import { randomUUID } from 'node:crypto';
import { perform, performGiven, type Action, type PartnerActor } from '@floodgate/audit';
import { connect, type Database } from '@floodgate/database';
import { repeat } from '@floodgate/service';
import type { TObject } from '@sinclair/typebox';
import { reserveBatch } from '@floodgate/registrations';
import {
  createWebhookAction,
  deleteWebhookAction,
  isRefused,
  pauseWebhookAction,
  replayWebhookAction,
  resumeWebhookAction,
  rotateWebhookAction,
  testWebhookAction,
  updateWebhookAction,
  type Changed,
  type Refused,
} from '@floodgate/webhooks/actions';
import { webhookDelivery } from '@floodgate/webhooks/delivery';
import type { Endpoint, Owner } from '@floodgate/webhooks/endpoints';
import type { SigningKeys } from '@floodgate/webhooks/signatures';
import type { Resolve } from '@floodgate/webhooks/deliver/resolve-outside';
import { Metrics } from '@floodgate/metrics';
import type { WebhookRequest } from '@floodgate/contract';
import type { Fixture } from './fixture.ts';
import { finalizePending } from './journal.ts';
import { keptLog } from './kept-log.ts';
import { reservationOf } from './reservation.ts';
import { roleOf, withRole } from './service-roles.ts';

export interface DeliverOptions {
  allowPrivate?: boolean;
  resolve?: Resolve;
  slots?: number;
}

/** Delivers webhooks in the test's own process, with the role of the delivery process. */
export async function deliverWebhooks(
  url: string,
  { allowPrivate = true, resolve, slots = 50 }: DeliverOptions = {},
) {
  const db = connect({
    connectionString: withRole(roleOf('delivery'), url),
    applicationName: 'floodgate-delivery',
    connectTimeoutMs: 60_000,
    maxConnections: 5,
    prepareStatements: true,
  });
  const metrics = new Metrics('delivery');
  const config = { WEBHOOK_ALLOW_PRIVATE: `${allowPrivate}` as const, WEBHOOK_SLOTS: slots };
  const { log, logged, assertNothingPrivate } = keptLog('delivery process');
  const opened = await webhookDelivery(resolve).open({ db, log, metrics, config });
  const failures: Error[] = [];
  const tasks = opened.tasks.map(({ run, intervalMs }) =>
    repeat(run, intervalMs, (error) => void failures.push(error)),
  );
  return {
    metrics,
    log: logged,
    failures,
    async close() {
      await Promise.all([...tasks.map((task) => task.stop()), opened.close()]);
      await db.destroy();
      assertNothingPrivate();
    },
  };
}

/** A webhook and its keys. */
export type NewWebhook = Changed & { keys: SigningKeys };

/** Performs an action as a partner. Its input is checked when it is performed. */
const byPartner =
  <Input extends TObject>(action: Action<Input, Changed | Refused>) =>
  (db: Database, input: object, partner: PartnerActor) =>
    performGiven(db, action, input, partner);

const CHANGES = {
  update: byPartner(updateWebhookAction(true)),
  pause: byPartner(pauseWebhookAction),
  resume: byPartner(resumeWebhookAction),
  replay: byPartner(replayWebhookAction),
  rotate: byPartner(rotateWebhookAction),
  test: byPartner(testWebhookAction),
  delete: byPartner(deleteWebhookAction),
};

/** Adds a webhook of a partner under an event. */
export async function addWebhook(db: Database, of: Owner, request: WebhookRequest): Promise<NewWebhook> {
  const { shardId, eventId, partnerId } = of;
  const actor = { kind: 'partner', shardId, eventId, partnerId } as const;
  const added = await perform(db, createWebhookAction(true), { ...request, eventId, partnerId }, actor);
  if (isRefused(added)) throw new Error(added.reason);
  return added;
}

/** Changes a webhook as its partner. */
export const changeWebhook = (
  db: Database,
  { id, shardId, eventId, partnerId }: Owner & Pick<Endpoint, 'id'>,
  name: keyof typeof CHANGES,
  input: object = {},
) => CHANGES[name](db, { ...input, webhookId: id }, { kind: 'partner', shardId, eventId, partnerId });

/** Registers and confirms `count` registrations. */
export async function confirmSome(db: Database, of: Fixture, ticketId: number, count = 1): Promise<void> {
  const reservations = Array.from({ length: count }, () => reservationOf(of, ticketId));
  await reserveBatch(db, randomUUID(), reservations);
  await finalizePending(db, of.shardId);
}
