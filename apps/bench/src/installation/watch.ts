import { setTimeout as delay } from 'node:timers/promises';
import { listTickets } from '@floodgate/tickets';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type RequestShape } from '@floodgate/rehearsal/load/load';
import type { Figure } from '../results.ts';
import { registrationOf, ROOMY } from '../workloads.ts';
import type { Installation } from './installation.ts';
import type { SliceOptions } from './slices.ts';

const VIEWERS = 200;
const PER_SECOND = 10_000;
const CONNECTIONS = 256;
const WARM_UP_SECONDS = 2;
/** Two snapshots: the first may have been taken before the last registration. */
const LAST_SNAPSHOTS_MS = 2_500;

/**
 * Measures a launch that many people watch: the CPU of the console, the API's CPU per registration with and without viewers, and whether
 * the page shows what Postgres has in the end.
 */
export async function watchedLaunch(
  installation: Installation,
  { rounds, seconds }: SliceOptions,
): Promise<Figure[]> {
  const { live, run, consoleUrl } = installation;
  const ticketId = await live.addTicket({ capacity: ROOMY });
  const request = registrationOf(live, ticketId);
  const issued = await run('access', 'create-token', 'bench', '--scopes', 'events:read', '--expires', '1d');
  const watching = {
    url: `${consoleUrl}/live/${live.eventId}/events`,
    token: (issued as { token: string }).token,
  };
  await launch(installation, request, WARM_UP_SECONDS);
  const figures = {
    console: [] as number[],
    api: [] as number[],
    rates: [] as number[],
    wrong: [] as number[],
  };
  for (let round = 0; round < rounds; round += 1) {
    const alone = await launch(installation, request, seconds);
    await using viewers = await openViewers(watching);
    const watched = await launch(installation, request, seconds);
    figures.console.push(watched.consoleShare * 100);
    figures.api.push(watched.apiMicros / alone.apiMicros);
    figures.rates.push(watched.perSecond);
    await delay(LAST_SNAPSHOTS_MS);
    const [ticket] = (await listTickets(installation.db, live.eventId)).filter(({ id }) => id === ticketId);
    figures.wrong.push(viewers.shown().filter((taken) => taken !== ticket!.taken).length);
  }
  const title = `launch watched by ${VIEWERS}`;
  return [
    { name: `${title}: registrations a second`, unit: '', rounds: figures.rates },
    { name: `${title}: CPU of the console, share of a core`, unit: '%', rounds: figures.console, atMost: 10 },
    { name: `${title}: CPU of the API per registration ÷ not watched`, unit: '', rounds: figures.api },
    {
      name: `${title}: viewers with other figures than Postgres in the end`,
      unit: '',
      rounds: figures.wrong,
      atMost: 0,
    },
  ];
}

async function launch({ baseUrl, cpuMicros, idle }: Installation, request: RequestShape, seconds: number) {
  await idle();
  const before = { console: await cpuMicros('apps/console'), api: await cpuMicros('apps/api') };
  const result = await generateLoad({
    baseUrl,
    requests: [request],
    connections: CONNECTIONS,
    seconds,
    arrivalsPerSecond: PER_SECOND,
  });
  const accepted = answersOf(result, OK);
  return {
    perSecond: accepted / result.seconds,
    consoleShare: ((await cpuMicros('apps/console')) - before.console) / (result.seconds * 1e6),
    apiMicros: ((await cpuMicros('apps/api')) - before.api) / accepted,
  };
}

/** Opens the stream of the live page as often as there are viewers, and reads what it shows. */
async function openViewers({ url, token }: { url: string; token: string }) {
  const leaving = new AbortController();
  const latest: string[] = [];
  const streams = await Promise.all(
    Array.from({ length: VIEWERS }, () =>
      fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: leaving.signal }),
    ),
  );
  const follow = async ({ body }: Response, viewer: number) => {
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const end = text.lastIndexOf('\n\n');
      if (end === -1) continue;
      latest[viewer] = text.slice(0, end);
      text = text.slice(end + 2);
    }
  };
  // They end when the viewers leave.
  for (const [viewer, stream] of streams.entries()) follow(stream, viewer).catch(() => {});
  await waitUntil('each viewer has a snapshot', () => Object.keys(latest).length === VIEWERS);
  return {
    /** The taken seats that each viewer sees. */
    shown: () => latest.map((html) => Number(/data-label="Taken"[^>]*>\s*(\d+)/.exec(html)?.[1])),
    [Symbol.asyncDispose]: async () => leaving.abort(),
  };
}
