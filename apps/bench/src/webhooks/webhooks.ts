import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { startDeliveryProcess } from '@floodgate/test/harness/service-process.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { addWebhook } from '@floodgate/test/harness/webhooks.ts';
import { attempt, inTurn, type Bench, type Mode } from '../mode.ts';
import { atLeast } from '../report/results.ts';
import { createManyEvents } from '../stored/many-events.ts';
import { storeHistory } from '../stored/store-history.ts';

/** The messages on one path of a receiver. */
export interface Received {
  messages: number;
  /** Messages that do not continue the range of the previous one. */
  breaks: number;
  cursor: number;
  firstAt: number;
  lastAt: number;
}

const DRAIN_TIMEOUT_MS = 300_000;
const OVERHEAD_SECONDS = 6;
const ROWS_PER_SECOND = 10_000;

const LIVE = [1, 2, 3, 4, 5].map((number) => `/live-${number}`);
/**
 * Two receivers that answer slowly, two that cut the connection. One more has a port on which no server
 * listens.
 */
const BAD = ['/slow-1', '/slow-2', '/cut-1', '/cut-2'];
const CLOSED = 'http://127.0.0.1:1/';

interface Case {
  name: string;
  live: string[];
  isTroubled: boolean;
  /** Share of the rows. */
  share: number;
}

const FIVE = 'five receivers';
const TROUBLED = 'five receivers beside five bad ones';
const CASES: readonly Case[] = [
  { name: 'one receiver', live: ['/live'], isTroubled: false, share: 1 },
  { name: FIVE, live: LIVE, isTroubled: false, share: 1 / LIVE.length },
  { name: TROUBLED, live: LIVE, isTroubled: true, share: 1 / LIVE.length },
];
const PER_SECOND = { 'per second': atLeast(15_000) };

/** Measures the rate at which webhooks send stored registrations, from the first message to the last. */
export const WEBHOOKS: Mode = {
  name: 'webhooks',
  help: 'how fast webhooks send what is stored, and what five bad receivers cost five good ones',
  usual: { pairs: 3, rows: 300_000 },
  duration: ({ pairs, rows }) => pairs * CASES.length * (rows / ROWS_PER_SECOND + OVERHEAD_SECONDS),
  measure: async (bench, { pairs, rows }) => {
    for (let round = 1; round <= pairs; round += 1) {
      const rates = new Map<string, number>();
      for (const one of inTurn(CASES, round)) {
        const values = await attempt(bench, `webhooks, ${one.name}, round ${round}`, () =>
          drain(bench, one, Math.ceil(rows * one.share)),
        );
        bench.progress.add(rows / ROWS_PER_SECOND + OVERHEAD_SECONDS);
        if (!values) continue;
        rates.set(one.name, values['per second']);
        bench.results.add('Webhooks', one.name, values, one.isTroubled ? {} : PER_SECOND);
      }
      const ratio = { '÷ without bad ones': (rates.get(TROUBLED) ?? Number.NaN) / (rates.get(FIVE) ?? 1) };
      bench.results.add('Webhooks', TROUBLED, ratio, { '÷ without bad ones': atLeast(0.95) });
    }
  },
};

/** Throws if something is missing or the chain is broken. */
async function drain({ servers }: Bench, { live, isTroubled }: Case, rows: number) {
  await using database = await servers.openDatabase();
  const { db, url } = database;
  const { events, partners } = await createManyEvents(db, { events: 1, partners: 1 });
  const [event, partner] = [events[0]!, partners[0]!];
  await storeHistory(db, { events, partners }, rows);
  const owner = { shardId: event.shardId, eventId: event.id, partnerId: partner.id };
  const receiver = await startReceiver();
  const at = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;
  const urls = [...live.map(at), ...(isTroubled ? [...BAD.map(at), CLOSED] : [])];
  await Promise.all(urls.map((address) => addWebhook(db, owner, { url: address })));
  await servers.checkpoint();
  const delivery = await startDeliveryProcess({ DATABASE_URL: url, WEBHOOK_ALLOW_PRIVATE: 'true' });
  try {
    await waitUntil(
      'all is told',
      () => live.every((path) => receiver.received()[path]?.cursor === rows),
      DRAIN_TIMEOUT_MS,
    );
    const told = live.map((path) => receiver.received()[path]!);
    if (told.some(({ breaks }) => breaks > 0)) throw new Error('the chain of cursors is broken');
    const seconds =
      (Math.max(...told.map((one) => one.lastAt)) - Math.min(...told.map((one) => one.firstAt))) / 1_000;
    const all = rows * live.length;
    const messages = told.reduce((sum, one) => sum + one.messages, 0);
    return {
      'per second': all / seconds,
      'messages/s': messages / seconds,
      'in a message': all / messages,
    };
  } finally {
    await delivery.end();
    receiver.end();
  }
}

/** Starts a receiver in a separate process. */
export async function startReceiver() {
  const child: ChildProcess = fork(new URL('receiver-main.ts', import.meta.url));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let received: Record<string, Received> = {};
  child.on('message', (message) => ({ received } = message as { received: Record<string, Received> }));
  return { port, received: () => received, end: () => child.kill() };
}
