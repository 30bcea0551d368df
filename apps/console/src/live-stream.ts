import { findOpenAccess, mayUseFor, type OperatorPrincipal, type Scope } from '@floodgate/operators';
import { reasonOf, repeat } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import type { ServerResponse } from 'node:http';
import { admitToPage, type ConsoleContext } from './operations.ts';
import { requireScope } from './principals.ts';
import { alertHtml } from './view/html.ts';
import type { Viewer } from './view/viewer.ts';

const INTERVAL_MS = 1_000;

/** Resolves to the next snapshot of something as HTML. */
type Take = () => Promise<string>;

/** Those who watch the same snapshots. */
interface Audience {
  /** All viewers with the same key watch one stream. */
  key: string;
  /** Returns whether an operator is still one of them. */
  admits: (operator: OperatorPrincipal) => boolean;
  /** Resolves to what they watch. Throws if there is no such thing. */
  open: () => Promise<Take>;
  /** Called when a stream begins. Its result is called when the stream ends. */
  begin?: () => () => void;
  /** The words for figures that cannot be read. */
  cannotRead?: string;
}

/**
 * Sends snapshots while somebody watches: one per second for all viewers. A viewer whose session has ended,
 * or whose roles have changed, gets no more.
 */
function startStream({ db, log }: ConsoleContext, { admits, begin, cannotRead }: Audience, take: Take) {
  const viewers = new Set<{ accessId: string; response: ServerResponse }>();
  let last = '';
  const next = async () => {
    const all = [...viewers];
    const ids = all.map(({ accessId }) => accessId);
    const [snapshot, open] = await Promise.all([take(), findOpenAccess(db, ids)]);
    for (const { accessId, response } of all) {
      const operator = open.get(accessId);
      if (!operator || !admits(operator)) response.end();
    }
    last = snapshot;
    return snapshot;
  };
  // The last figures stay, with a word that they are old: everybody who gets them has seen them.
  const failed = (error: unknown) => {
    const text = cannotRead ?? `The console cannot read the figures: ${reasonOf(error)}`;
    return alertHtml(text) + last;
  };
  const send = async () => {
    const text = await next().catch(failed);
    const event = `data: ${text.replaceAll('\n', ' ')}\n\n`;
    // A viewer that reads slowly misses snapshots.
    for (const { response } of viewers)
      if (!response.writableEnded && !response.writableNeedDrain) response.write(event);
    return 'done' as const;
  };
  const task = repeat(send, INTERVAL_MS, (err) => log.error({ err }, 'unexpected error'));
  const end = begin?.();
  const stop = () => {
    void task.stop();
    end?.();
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
  audienceOf: (eventId: string, operator: OperatorPrincipal, viewer: Viewer) => Audience,
) {
  const streams = new Map<string, ReturnType<typeof startStream>>();
  app.get<{ Params: { eventId: string } }>(`${path}/events`, async (request, reply) => {
    const operator = requireScope(request, ...scopes);
    const { accessId } = operator;
    const { eventId } = request.params;
    await admitToPage(context, operator, scopes, { address: { eventId }, isList: false });
    const audience = audienceOf(eventId, operator, request.viewer);
    const take = await audience.open();
    const admits = (now: OperatorPrincipal) =>
      audience.admits(now) && scopes.every((scope) => mayUseFor(now, scope, Number(eventId)));
    reply.hijack();
    const response = reply.raw;
    // Nobody would remove a viewer who has left already.
    if (response.destroyed) return;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    const { key } = audience;
    const stream = streams.getOrInsertComputed(key, () =>
      startStream(context, { ...audience, admits }, take),
    );
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

/**
 * Returns the part of a page that shows the latest snapshot of the stream at its address. `old`: the words for
 * figures that are old because the console does not answer.
 */
export const liveHtml = (address: string, snapshot: string, old?: string) =>
  html`<div id="live" data-source="${address}/events" data-old="${old ?? ''}">!${snapshot}</div>`;
