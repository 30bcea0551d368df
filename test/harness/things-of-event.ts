import { perform } from '@floodgate/audit';
import { createPassSigner } from '@floodgate/passes';
import { failBatch, findRegistrations, passReferenceOf } from '@floodgate/registrations';
import { createWebhookAction, isRefused } from '@floodgate/webhooks/actions';
import { commitBatch } from './committed-batch.ts';
import type { TestDatabase } from './database.ts';
import { addDevice, addGate } from './door-device.ts';
import { createFixture } from './fixture.ts';
import { addJob } from './example-job.ts';
import { finalizePending } from './journal.ts';

/** The ids of an event and of one thing of each kind in it. */
export interface ThingsOfEvent {
  eventId: number;
  partnerId: number;
  ticketId: number;
  passReference: string;
  /** A signed pass. */
  token: string;
  webhookId: string;
  gateId: number;
  deviceId: number;
  /** A batch that failed. */
  batchId: string;
  jobId: string;
}

/** Creates an event with one thing of each kind that operations name. */
export async function createThings(database: TestDatabase): Promise<ThingsOfEvent> {
  const { db } = database;
  const fixture = await createFixture(db);
  const { eventId, shardId, partnerId } = fixture;
  const { serial } = await commitBatch(db, fixture);
  await finalizePending(db, shardId);
  const [row] = await findRegistrations(db, [{ ...fixture, serial }]);
  const { batchId } = await commitBatch(db, fixture);
  await failBatch(db, shardId, batchId, 'test');
  const webhook = await perform(
    db,
    createWebhookAction(false),
    { eventId, partnerId, url: 'https://partner.example/hook' },
    'test',
  );
  if (isRefused(webhook)) throw new Error(webhook.reason);
  const gateId = await addGate(db, eventId);
  return {
    eventId,
    partnerId,
    ticketId: row!.ticketId,
    passReference: passReferenceOf(row!),
    token: await createPassSigner(database).tokenFor(row!),
    webhookId: webhook.endpoint.id,
    gateId,
    deviceId: (await addDevice(db, eventId, [gateId])).id,
    batchId,
    jobId: await addJob(db, fixture),
  };
}

/** The ids of things that do not exist, in the form of those of an event. */
export const missingThings = ({ passReference, partnerId, token }: ThingsOfEvent): ThingsOfEvent => ({
  eventId: 2_000_000_001,
  partnerId,
  ticketId: 2_000_000_002,
  passReference: passReference.replace(/-\d+-\d+-/, '-2000000001-1-'),
  token: `${token.slice(0, 4)}NOPASS`,
  webhookId: '00000000-0000-4000-8000-000000000000',
  gateId: 2_000_000_003,
  deviceId: 2_000_000_004,
  batchId: '00000000-0000-4000-8000-000000000001',
  jobId: '00000000-0000-4000-8000-000000000002',
});
