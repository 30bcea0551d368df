import { findOpenAccess, mayUse, mayUseFor, SHARED_PAGE } from '@floodgate/operators';
import type { OperatorPrincipal, Scope } from '@floodgate/operators';
import { reasonOf, repeat } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import type { ServerResponse } from 'node:http';
import { adder } from './add-page.ts';
import { backlogCells, kindsOf } from './delivery-pages.ts';
import { maySell } from './event-pages.ts';
import { admitToPage, readBy, type ConsoleContext } from './operations.ts';
import { requireScope } from './principals.ts';
import { actions, alertHtml, awayHtml, fields, table } from './view.ts';

const INTERVAL_MS = 1_000;
/** The pace is that of the last seconds. */
const PACE_SECONDS = 5;
const SCOPES = ['events:read', 'tickets:read'] as const;
/** For all events: the figures of the installation. */
const OF_INSTALLATION = 'queue:read';

/** Resolves to the next snapshot of something as HTML. */
type Take = () => Promise<string>;

/** Those who watch the same snapshots. */
interface Audience {
  /** All viewers with the same key watch one stream. */
  key: string;
  /** Returns whether an operator is still one of them. */
  admits: (operator: OperatorPrincipal) => boolean;
  /** Resolves to what they watch. */
  open: () => Promise<Take>;
}

/**
 * Sends snapshots while somebody watches: one per second for all viewers. A viewer whose session has ended,
 * or whose roles have changed, gets no more.
 */
function startStream({ db, log }: ConsoleContext, { admits }: Audience, take: Take) {
  const viewers = new Set<{ accessId: string; response: ServerResponse }>();
  const next = async () => {
    const all = [...viewers];
    const ids = all.map(({ accessId }) => accessId);
    const [snapshot, open] = await Promise.all([take(), findOpenAccess(db, ids)]);
    for (const { accessId, response } of all) {
      const operator = open.get(accessId);
      if (!operator || !admits(operator)) response.end();
    }
    return snapshot;
  };
  const send = async () => {
    const text = await next().catch((error: unknown) =>
      alertHtml(`The console cannot read the figures: ${reasonOf(error)}`),
    );
    const event = `data: ${text.replaceAll('\n', '')}\n\n`;
    // A viewer that reads slowly misses snapshots.
    for (const { response } of viewers)
      if (!response.writableEnded && !response.writableNeedDrain) response.write(event);
    return 'done' as const;
  };
  const task = repeat(send, INTERVAL_MS, (err) => log.error({ err }, 'unexpected error'));
  const stop = () => {
    void task.stop();
    for (const { response } of viewers) response.end();
  };
  return { viewers, stop };
}

/** Adds a stream of snapshots of an event to the path of its page. Without viewers there are no queries. */
export function addStream(
  app: FastifyInstance,
  context: ConsoleContext,
  path: `/${string}:eventId${string}`,
  scopes: readonly Scope[],
  audienceOf: (eventId: string, operator: OperatorPrincipal) => Audience,
) {
  const streams = new Map<string, ReturnType<typeof startStream>>();
  app.get<{ Params: { eventId: string } }>(`${path}/events`, async (request, reply) => {
    const operator = requireScope(request, ...scopes);
    const { accessId } = operator;
    const { eventId } = request.params;
    await admitToPage(context, operator, scopes, { address: { eventId }, isList: false });
    const { key, open, ...rest } = audienceOf(eventId, operator);
    const take = await open();
    const admits = (now: OperatorPrincipal) =>
      rest.admits(now) && scopes.every((scope) => mayUseFor(now, scope, Number(eventId)));
    reply.hijack();
    const response = reply.raw;
    // Nobody would remove a viewer who has left already.
    if (response.destroyed) return;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    const stream = streams.getOrInsertComputed(key, () => startStream(context, { key, open, admits }, take));
    const viewer = { accessId, response };
    stream.viewers.add(viewer);
    response.on('close', () => {
      stream.viewers.delete(viewer);
      if (stream.viewers.size > 0) return;
      streams.delete(key);
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
export function addLive(app: FastifyInstance, context: ConsoleContext) {
  const path = '/live/:eventId';
  adder(app, context)(path, SCOPES, async ({ operator, operations, params: { eventId }, read, action }) => {
    const event = await readBy(context, operations.eventShow, { eventId }, SHARED_PAGE);
    const snapshot = await takeSnapshot(context, eventId, mayUse(operator, OF_INSTALLATION));
    const webhooks = await read(operations.webhookList, { eventId });
    const isResumable = maySell(event);
    const switched = snapshot.tickets.filter(({ active }) => active || isResumable);
    const links = [
      ...switched.map(({ id: ticketId, title, active }) => {
        const what = `${active ? 'Stop' : 'Resume'} sale of ${title}`;
        return action(operations.ticketUpdate, { ticketId, active: !active }, what);
      }),
      action(operations.ticketStopAll, { eventId }, 'Stop all sales'),
      ...(isResumable ? [action(operations.ticketResumeAll, { eventId }, 'Resume all sales')] : []),
      action(operations.mailPause, { eventId }, 'Pause e-mails'),
      action(operations.mailResume, { eventId }, 'Resume e-mails'),
      ...(webhooks ?? []).map(({ id: webhookId, state }) =>
        state === 'active'
          ? action(operations.webhookPause, { webhookId }, `Pause webhook ${webhookId}`)
          : action(operations.webhookResume, { webhookId }, `Resume webhook ${webhookId}`),
      ),
    ];
    const main = liveHtml(`/live/${eventId}`, snapshotHtml([snapshot]));
    return [`Launch: ${event.name}`, main, actions(...links)];
  });
  addStream(app, context, path, SCOPES, (eventId, operator) => {
    const isWhole = mayUse(operator, OF_INSTALLATION);
    return {
      key: `${eventId} ${isWhole ? 'with the installation' : ''}`,
      admits: (now) => !isWhole || mayUse(now, OF_INSTALLATION),
      open: async () => {
        await readBy(context, context.operations.eventShow, { eventId }, SHARED_PAGE);
        let snapshots: Snapshot[] = [];
        return async () => {
          snapshots = [...snapshots.slice(-PACE_SECONDS), await takeSnapshot(context, eventId, isWhole)];
          return snapshotHtml(snapshots);
        };
      },
    };
  });
}

async function takeSnapshot(context: ConsoleContext, eventId: string, isWhole: boolean) {
  const { operations } = context;
  const [tickets, installation] = await Promise.all([
    readBy(context, operations.ticketList, { eventId }, SHARED_PAGE),
    isWhole ? readInstallation(context) : undefined,
  ]);
  return { at: performance.now(), tickets, installation };
}

async function readInstallation({ db, operations }: ConsoleContext) {
  const [processes, backlog] = await Promise.all([
    operations.processList(db, {}, SHARED_PAGE),
    operations.backlogShow(db, {}, SHARED_PAGE),
  ]);
  return { processes, backlog };
}

type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>;
type Installation = NonNullable<Snapshot['installation']>;

const rate = (perSecond: number) => `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;

/** Returns the state of a launch as HTML. The rates are those between the first and the last snapshot. */
function snapshotHtml(snapshots: readonly Snapshot[]) {
  const [first, last] = [snapshots[0]!, snapshots.at(-1)!];
  const seconds = (last.at - first.at) / 1_000;
  const paceOf = (now: number, before = now) => (seconds > 0 ? (now - before) / seconds : 0);
  const takenBefore = new Map(first.tickets.map(({ id, taken }) => [id, taken]));
  return [
    awayHtml(last.installation?.backlog.deliveries.shardsAway),
    table('Tickets', last.tickets, ({ id, title, active, capacity, taken, left }) => {
      const pace = paceOf(taken, takenBefore.get(id));
      const soldOut =
        left === 0 ? 'sold out' : pace > 0 ? `in ${Math.ceil(left / pace)} s at this rate` : null;
      return { ticket: title, onSale: active, capacity, taken, left, pace: rate(pace), soldOut };
    }),
    ...(first.installation && last.installation
      ? installationHtml(first.installation, last.installation, paceOf)
      : []),
  ].join('\n');
}

function installationHtml(
  first: Installation,
  last: Installation,
  paceOf: (now: number, before?: number) => number,
) {
  const running = Object.groupBy(last.processes, ({ service }) => service);
  const apis = running['api'] ?? [];
  const before = new Map(first.processes.map(({ id, facts }) => [id, facts.refused]));
  const refused: Record<string, number> = {};
  for (const { id, facts } of apis)
    for (const [code, count] of Object.entries(facts.refused ?? {}))
      refused[code] = (refused[code] ?? 0) + paceOf(count, before.get(id)?.[code]);
  const waiting = apis.reduce((sum, { facts }) => sum + (facts.waiting ?? 0), 0);
  const services = ['api', 'worker', 'delivery'].map((name) => [name, running[name]?.length ?? 0]);
  return [
    table('Refused requests of all events', Object.entries(refused), ([code, pace]) => {
      return { code, refused: rate(pace) };
    }),
    fields({ 'waiting calls': waiting, ...backlogCells(last.backlog), ...Object.fromEntries(services) }),
    table('Deliveries', kindsOf(last.backlog.deliveries), ([kind, { oldestMs, oldestRetryMs, behind }]) => {
      return { kind, oldestMs, oldestRetryMs, behind };
    }),
  ];
}
