import type { Database } from '@floodgate/database';
import { findOpenAccess, listProcesses, mayUse } from '@floodgate/operators';
import { reasonOf, repeat } from '@floodgate/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import type { ServerResponse } from 'node:http';
import type { ConsoleContext, Operations } from './operations.ts';
import { requireScope } from './principals.ts';
import { actionLink, awayHtml, fields, sendPage, table } from './view.ts';

const INTERVAL_MS = 1_000;
/** The pace is that of the last seconds. */
const PACE_SECONDS = 5;

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

/** Snapshots of an event while somebody watches: one per second for all viewers. A viewer whose session has ended gets no more. */
class Launch {
  readonly viewers = new Set<{ accessId: string; response: ServerResponse }>();
  readonly #db: Database;
  readonly #take: () => Promise<Snapshot>;
  readonly #task: { stop(): Promise<void> };
  #snapshots: Snapshot[] = [];

  constructor({ db, log }: ConsoleContext, take: () => Promise<Snapshot>) {
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
    this.#snapshots = [...this.#snapshots.slice(-PACE_SECONDS), snapshot];
    return snapshotHtml(this.#snapshots);
  }
}

/** Adds the page of a live launch, and its stream of snapshots. Without viewers there are no queries. */
export function addLive(app: FastifyInstance, operations: Operations, context: ConsoleContext): void {
  const launches = new Map<number, Launch>();
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
  const eventOf = async (request: FastifyRequest) => {
    for (const scope of ['tickets:read', 'queue:read'] as const) requireScope(request, scope);
    const eventId = Number((request.params as Record<string, string>)['eventId']);
    return { eventId, ...(await read<{ name: string }>('eventShow', { eventId })) };
  };

  app.get('/live/:eventId', async (request, reply) => {
    const operator = requireScope(request, 'events:read');
    const { eventId, name } = await eventOf(request);
    const snapshot = await take(eventId);
    const webhooks = mayUse(operator, 'webhooks:read')
      ? await read<Webhook[]>('webhookList', { eventId })
      : [];
    const links = changesOf(eventId, snapshot.tickets, webhooks).map(([id, given, what]) => {
      const operation = operations.get(id)!;
      return actionLink(operator, operation, { ...given, back: request.url }, what).html;
    });
    const main = html`<div id="live" data-source="/live/${String(eventId)}/events">
        !${snapshotHtml([snapshot])}
      </div>
      <p class="actions">!${links.join(' ')}</p>`;
    return sendPage(reply, `Launch: ${name}`, main);
  });

  app.get('/live/:eventId/events', async (request, reply) => {
    const { accessId } = requireScope(request, 'events:read');
    const { eventId } = await eventOf(request);
    reply.hijack();
    const response = reply.raw;
    // Nobody would remove a viewer who has left already.
    if (response.destroyed) return;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    const launch = launches.getOrInsertComputed(eventId, () => new Launch(context, () => take(eventId)));
    const viewer = { accessId, response };
    launch.viewers.add(viewer);
    response.on('close', () => {
      launch.viewers.delete(viewer);
      if (launch.viewers.size > 0) return;
      launches.delete(eventId);
      launch.stop();
    });
  });

  app.addHook('preClose', (done) => {
    for (const launch of launches.values()) launch.stop();
    done();
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
