import { randomUUID } from 'node:crypto';
import { connect, type Database } from '@floodgate/database';
import { repeat } from '@floodgate/service';
import { reserveBatch } from '@floodgate/registrations';
import {
  addEndpoint,
  webhookDelivery,
  type NewEndpoint,
  type Owner,
  type Resolve,
} from '@floodgate/webhooks';
import { Registry } from '@prometheus-io/client';
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
    maxConnections: 5,
    prepareStatements: true,
  });
  const metrics = new Registry();
  const config = { WEBHOOK_ALLOW_PRIVATE: String(allowPrivate), WEBHOOK_SLOTS: slots };
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

/** Adds an endpoint of a partner under an event. */
export async function addWebhook(db: Database, of: Owner, request: WebhookRequest): Promise<NewEndpoint> {
  const added = await db.transaction().execute((transaction) => addEndpoint(transaction, of, request));
  if (!added) throw new Error('there are too many');
  return added;
}

/** Registers and confirms so many. */
export async function confirmSome(db: Database, of: Fixture, ticketId: number, count = 1): Promise<void> {
  const reservations = Array.from({ length: count }, () => reservationOf(of, ticketId));
  await reserveBatch(db, randomUUID(), reservations);
  await finalizePending(db, of.shardId);
}
