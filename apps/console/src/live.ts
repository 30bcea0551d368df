import type { Database } from '@floodgate/database';
import { findOpenAccess, listProcesses, mayUse, type Scope } from '@floodgate/operators';
import { reasonOf, repeat } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import type { ServerResponse } from 'node:http';
import type { ConsoleContext, Operations } from './operations.ts';
import { requireScope } from './principals.ts';
import { actionLink, awayHtml, fields, sendPage, table } from './view.ts';

const INTERVAL_MS = 1_000;
/** The pace is that of the last seconds. */
const PACE_SECONDS = 5;
const SCOPES = ['events:read', 'tickets:read', 'queue:read'] as const;

interface Ticket {
  id: number;
  title: string;
  active: boolean;
  capacity: number;
  taken: number;
  left: number;
}

type Webhook = Record<'id' | 'state', string>;

interface Snapshot {
  /** By performance.now(). */
  at: number;
  tickets: Ticket[];
  processes: { id: string; service: string; facts: { waiting?: number; refused?: Record<string, number> } }[];
  backlog: Record<string, unknown>;
}

/** Resolves to the next snapshot of something as HTML. */
export type Take = () => Promise<string>;

/** Snapshots while somebody watches: one per second for all viewers. A viewer whose session has ended gets no more. */
class Stream {
  readonly viewers = new Set<{ accessId: string; response: ServerResponse }>();
  readonly #db: Database;
  readonly #take: Take;
  readonly #task: { stop(): Promise<void> };

  constructor({ db, log }: ConsoleContext, take: Take) {
    this.#db = db;
    this.#take = take;
    this.#task = repeat(
      async () => (await this.#send(), 'done'),
      INTERVAL_MS,
      (err) => log.error({ err }, 'unexpected error'),
    );
  }

  stop(): void {
    void this.#task.stop();
    for (const { response } of this.viewers) response.end();
  }

  async #send(): Promise<void> {
    const text = await this.#next().catch(
      (error: unknown) => html`<p role="alert">The console cannot see Postgres: ${reasonOf(error)}</p>`,
    );
    const event = `data: ${text.replaceAll('\n', '')}\n\n`;
    // A viewer that reads slowly misses snapshots.
    for (const { response } of this.viewers)
      if (!response.writableEnded && !response.writableNeedDrain) response.write(event);
  }

  /** Returns the next snapshot as HTML. */
  async #next(): Promise<string> {
    const viewers = [...this.viewers];
    const ids = viewers.map(({ accessId }) => accessId);
    const [snapshot, open] = await Promise.all([this.#take(), findOpenAccess(this.#db, ids)]);
    for (const { accessId, response } of viewers) if (!open.has(accessId)) response.end();
    return snapshot;
  }
}

/** Adds a stream of snapshots of an event to the path of its page. Without viewers there are no queries. */
export function addStream(
  app: FastifyInstance,
  context: ConsoleContext,
  { path, scopes }: { path: `/${string}:eventId${string}`; scopes: readonly Scope[] },
  open: (eventId: number) => Promise<Take>,
): void {
  const streams = new Map<number, Stream>();
  app.get<{ Params: { eventId: string } }>(`${path}/events`, async (request, reply) => {
    const { accessId } = requireScope(request, ...scopes);
    const eventId = Number(request.params.eventId);
    const take = await open(eventId);
    reply.hijack();
    const response = reply.raw;
    // Nobody would remove a viewer who has left already.
    if (response.destroyed) return;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    const stream = streams.getOrInsertComputed(eventId, () => new Stream(context, take));
    const viewer = { accessId, response };
    stream.viewers.add(viewer);
    response.on('close', () => {
      stream.viewers.delete(viewer);
      if (stream.viewers.size > 0) return;
      streams.delete(eventId);
      stream.stop();
    });
  });
  app.addHook('preClose', (done) => {
    for (const stream of streams.values()) stream.stop();
    done();
  });
}

/** Returns the part of a page that shows the latest snapshot of the stream at its address. */
export const liveHtml = (address: string, snapshot: string) =>
  html`<div id="live" data-source="${address}/events">!${snapshot}</div>`;

/** Adds the page of a live launch, and its stream of snapshots. */
export function addLive(app: FastifyInstance, operations: Operations, context: ConsoleContext): void {
  const read = async <Result>(id: string, input = {}) =>
    (await operations.get(id)!.run(context, input, '')) as Result;
  const take = async (eventId: number): Promise<Snapshot> => {
    const [tickets, processes, backlog] = await Promise.all([
      read<Ticket[]>('ticketList', { eventId }),
      listProcesses(context.db),
      read<Record<string, unknown>>('backlogShow'),
    ]);
    return { at: performance.now(), tickets, processes, backlog };
  };
  app.get<{ Params: { eventId: string } }>('/live/:eventId', async (request, reply) => {
    const operator = requireScope(request, ...SCOPES);
    const eventId = Number(request.params.eventId);
    const { name } = await read<{ name: string }>('eventShow', { eventId });
    const snapshot = await take(eventId);
    const webhooks = mayUse(operator, 'webhooks:read')
      ? await read<Webhook[]>('webhookList', { eventId })
      : [];
    const links = changesOf(eventId, snapshot.tickets, webhooks).map(([id, given, what]) => {
      const operation = operations.get(id)!;
      return actionLink(operator, operation, { ...given, back: request.url }, what).html;
    });
    const main = html`!${liveHtml(`/live/${eventId}`, snapshotHtml([snapshot]))}
      <p class="actions">!${links.join(' ')}</p>`;
    return sendPage(reply, `Launch: ${name}`, main);
  });

  addStream(app, context, { path: '/live/:eventId', scopes: SCOPES }, async (eventId) => {
    await read('eventShow', { eventId });
    let snapshots: Snapshot[] = [];
    return async () => {
      snapshots = [...snapshots.slice(-PACE_SECONDS), await take(eventId)];
      return snapshotHtml(snapshots);
    };
  });
}

/** Returns the changes that can be made during a launch: operation, given fields and text of the link. */
function changesOf(eventId: number, tickets: readonly Ticket[], webhooks: readonly Webhook[]) {
  const ofEvent = [
    ['ticketStopAll', 'Stop all sales'],
    ['ticketResumeAll', 'Resume all sales'],
    ['mailPause', 'Pause e-mails'],
    ['mailResume', 'Resume e-mails'],
  ] as const;
  return [
    ...tickets.map(({ id, title, active }) => {
      const what = `${active ? 'Stop' : 'Resume'} sale of ${title}`;
      return ['ticketUpdate', { ticketId: id, active: !active }, what] as const;
    }),
    ...ofEvent.map(([id, what]) => [id, { eventId }, what] as const),
    ...webhooks.map(({ id, state }) => {
      const change = state === 'active' ? 'Pause' : 'Resume';
      return [`webhook${change}`, { webhookId: id }, `${change} webhook ${id}`] as const;
    }),
  ];
}

const rate = (perSecond: number) => `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;

/** Returns the state of a launch as HTML. The rates are those between the first and the last snapshot. */
function snapshotHtml(snapshots: readonly Snapshot[]): string {
  const [first, last] = [snapshots[0]!, snapshots.at(-1)!];
  const seconds = (last.at - first.at) / 1_000;
  const paceOf = (now: number, before: number) => (seconds > 0 ? (now - before) / seconds : 0);
  const takenBefore = new Map(first.tickets.map(({ id, taken }) => [id, taken]));
  const rows = last.tickets.map(({ id, title, active, capacity, taken, left }) => {
    const pace = paceOf(taken, takenBefore.get(id) ?? taken);
    const soldOut = left === 0 ? 'sold out' : pace > 0 ? `in ${Math.ceil(left / pace)} s at this rate` : null;
    return { ticket: title, onSale: active, capacity, taken, left, pace: rate(pace), soldOut };
  });
  const apis = last.processes.filter(({ service }) => service === 'api');
  const before = new Map(first.processes.map(({ id, facts }) => [id, facts.refused ?? {}]));
  const refused: Record<string, number> = {};
  for (const { id, facts } of apis)
    for (const [code, count] of Object.entries(facts.refused ?? {}))
      refused[code] = (refused[code] ?? 0) + paceOf(count, before.get(id)?.[code] ?? count);
  const refusedRows = Object.entries(refused).map(([code, pace]) => ({ code, refused: rate(pace) }));
  const services = ['api', 'worker', 'delivery'].map((name) => [
    name,
    last.processes.filter(({ service }) => service === name).length,
  ]);
  const { deliveries, ...backlog } = last.backlog;
  const { shardsAway = [], ...kinds } = deliveries as Record<string, Record<string, number | null>>;
  const lags = Object.entries(kinds).map(([kind, lag]) => {
    const { oldestMs, oldestRetryMs, behind } = lag;
    return { kind, oldestMs, oldestRetryMs, behind };
  });
  const waiting = apis.reduce((sum, { facts }) => sum + (facts.waiting ?? 0), 0);
  return [
    awayHtml(shardsAway as number[]),
    table('Tickets', rows),
    table('Refused requests of all events', refusedRows),
    fields({ 'waiting calls': waiting, ...backlog, ...Object.fromEntries(services) }),
    table('Deliveries', lags),
  ].join('\n');
}
