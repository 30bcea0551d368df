import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Database } from '@floodgate/database';
import type { Owner } from '@floodgate/webhooks/endpoints';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { startDeliveryProcess } from '@floodgate/test/harness/service-process.ts';
import { tablesOf } from '@floodgate/test/harness/stored-tables.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { addWebhook } from '@floodgate/test/harness/webhooks.ts';
import { storeHistory } from '../history/store.ts';
import { createManyEvents } from '../many-events.ts';
import { cpuMicrosOfTree } from '@floodgate/test/harness/process-usage.ts';
import type { Progress } from '../progress.ts';
import type { WebhookDrain } from '../results.ts';
import type { Servers } from '../servers.ts';

export interface WebhooksOptions {
  rounds: number;
  /** Registrations for one receiver. Five receivers get a fifth each. */
  rows: number;
}

/** The messages on one path of a receiver. */
export interface Received {
  messages: number;
  /** Messages that do not continue the range of the previous one. */
  breaks: number;
  cursor: number;
  firstAt: number;
  lastAt: number;
}

export const DEFAULT_WEBHOOK_ROWS = 300_000;
const DRAIN_TIMEOUT_MS = 300_000;
const OVERHEAD_SECONDS = 10;
const ROWS_PER_SECOND = 10_000;

const LIVE = [1, 2, 3, 4, 5].map((number) => `/live-${number}`);
/** Two receivers that answer slowly, and one that cuts the connection. addBad adds one on a closed port, and one with a forbidden address. */
const BAD = ['/slow-1', '/slow-2', '/cut'];

interface Case {
  name: WebhookDrain['name'];
  live: string[];
  isTroubled: boolean;
  share: number;
}

const CASES: readonly Case[] = [
  { name: 'one receiver', live: ['/live'], isTroubled: false, share: 1 },
  { name: 'five receivers', live: LIVE, isTroubled: false, share: 1 / LIVE.length },
  { name: 'five receivers beside five bad ones', live: LIVE, isTroubled: true, share: 1 / LIVE.length },
];

export const webhooksSeconds = ({ rounds, rows }: WebhooksOptions): number =>
  rounds * CASES.length * (rows / ROWS_PER_SECOND + OVERHEAD_SECONDS);

/**
 * Measures the rate at which webhooks send stored registrations, from the first message to the last. Throws if something is missing or the
 * chain is broken.
 */
export async function webhookDrains(
  servers: Servers,
  options: WebhooksOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<WebhookDrain[]> {
  const drains: WebhookDrain[] = [];
  for (let round = 1; round <= options.rounds; round += 1)
    for (const one of round % 2 === 1 ? CASES : CASES.toReversed()) {
      signal.throwIfAborted();
      progress.say(`webhooks, ${one.name}, round ${round}`);
      drains.push({
        name: one.name,
        round,
        ...(await drain(servers, one, Math.ceil(options.rows * one.share))),
      });
      progress.add(webhooksSeconds({ rounds: 1, rows: options.rows }) / CASES.length);
    }
  return drains;
}

async function drain(servers: Servers, { live, isTroubled }: Case, rows: number) {
  await using database = await servers.openDatabase();
  const { db, url } = database;
  const { events, partners } = await createManyEvents(db, { events: 1, partners: 1 });
  const [event, partner] = [events[0]!, partners[0]!];
  await storeHistory(db, { events, partnerIds: [partner.id] }, rows);
  const owner = { shardId: event.shardId, eventId: event.id, partnerId: partner.id };
  const receiver = await startReceiver();
  const at = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;
  await Promise.all(live.map((path) => addWebhook(db, owner, { url: at(path) })));
  if (isTroubled) await addBad(db, owner, at);
  await servers.checkpoint();
  const delivery = await startDeliveryProcess({ DATABASE_URL: url, WEBHOOK_ALLOW_PRIVATE: 'true' });
  const cpu = async () => ({
    delivery: (await cpuMicrosOfTree(delivery.child.pid!)) ?? Number.NaN,
    postgres: (await cpuMicrosOfTree(servers.pids.postgres)) ?? Number.NaN,
  });
  try {
    const before = await cpu();
    await waitUntil(
      'all is told',
      () => live.every((path) => receiver.received()[path]?.cursor === rows),
      DRAIN_TIMEOUT_MS,
    );
    const after = await cpu();
    const told = live.map((path) => receiver.received()[path]!);
    if (told.some(({ breaks }) => breaks > 0)) throw new Error('the chain of cursors is broken');
    const seconds =
      (Math.max(...told.map((one) => one.lastAt)) - Math.min(...told.map((one) => one.firstAt))) / 1_000;
    const all = rows * live.length;
    return {
      registrations: all,
      messages: told.reduce((sum, { messages }) => sum + messages, 0),
      seconds,
      perSecond: all / seconds,
      cpuMicros: {
        delivery: (after.delivery - before.delivery) / all,
        postgres: (after.postgres - before.postgres) / all,
      },
    };
  } finally {
    await delivery.end();
    receiver.end();
  }
}

async function addBad(db: Database, owner: Owner, at: (path: string) => string): Promise<void> {
  await Promise.all(BAD.map((path) => addWebhook(db, owner, { url: at(path) })));
  // No server listens on this port.
  await addWebhook(db, owner, { url: 'http://127.0.0.1:1/' });
  // Webhooks of a test event must not reach outside addresses. This one is refused at the connect, like DNS rebinding.
  const trial = await createFixture(db, 'allow', 'test');
  const trialTicket = await trial.addTicket();
  await tablesOf(db)
    .insertInto('journal_segments')
    .values({
      shard_id: trial.shardId,
      event_id: trial.eventId,
      partner_id: 0,
      last_offset: 1,
      count: 1,
      kind: 'sold_out',
      ticket_id: trialTicket,
      first_serial: null,
      last_serial: null,
      serials: null,
    })
    .execute();
  await addWebhook(db, trial, { url: 'https://203.0.114.1/' });
}

/** Starts a receiver in a separate process. */
export async function startReceiver() {
  const child: ChildProcess = fork(new URL('receiver-main.ts', import.meta.url));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let received: Record<string, Received> = {};
  child.on('message', (message) => ({ received } = message as { received: Record<string, Received> }));
  return { port, received: () => received, end: () => child.kill() };
}
