import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { listTickets } from '@floodgate/tickets';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type RequestShape } from '@floodgate/rehearsal/load/load';
import { attempt, type Mode } from '../mode.ts';
import { registrationOf, ROOMY } from '../rates/workloads.ts';
import { atMost } from '../report/results.ts';
import { startInstallation, type Installation } from './installation.ts';

const VIEWERS = 200;
const SCOPES = 'events:read,tickets:read,queue:read';
const PER_SECOND = 10_000;
const CONNECTIONS = 256;
const WARM_UP_SECONDS = 2;
/** Two snapshots: the first may have been taken before the last registration. */
const LAST_SNAPSHOTS_MS = 2_500;

const START_SECONDS = 30;
const SETTLE_SECONDS = 4;

const TARGETS = {
  'console, % of a core more than unwatched': atMost(10),
  'viewers with other figures than Postgres': atMost(0),
  'registrations that are not kept by second': atMost(0),
};

/**
 * Measures a launch that many people watch: the CPU of the console, the API's CPU per registration with and
 * without viewers, and whether the page shows what Postgres has in the end.
 */
export const WATCH: Mode = {
  name: 'watch',
  help: `npm start: a launch at 10,000/s that ${VIEWERS} people watch in the console`,
  usual: { pairs: 6, seconds: 4 },
  duration: ({ pairs, seconds }) => pairs * 2 * (seconds + SETTLE_SECONDS) + START_SECONDS,
  measure: async (bench, { pairs, seconds }) => {
    await using installation = await startInstallation();
    const { live, run, consoleUrl } = installation;
    const ticketId = await live.addTicket({ capacity: ROOMY });
    const request = registrationOf(live, ticketId);
    const issued = await run('access', 'create-token', 'bench', '--scopes', SCOPES, '--expires', '1d');
    const { token } = issued as { token: string };
    const watching = { url: `${consoleUrl}/live/${live.eventId}/events`, token };
    // Its first look at a sale has no figures.
    await waitUntil('the console keeps the sale', async () => (await keptOf(installation)) !== null);
    await launch(installation, request, WARM_UP_SECONDS);
    for (let round = 1; round <= pairs; round += 1) {
      const values = await attempt(bench, `launch with viewers, round ${round}`, async () => {
        const alone = await launch(installation, request, seconds);
        await using viewers = await openViewers(watching);
        const watched = await launch(installation, request, seconds);
        await delay(LAST_SNAPSHOTS_MS);
        const tickets = await listTickets(installation.db, live.eventId);
        const taken = tickets.find(({ id }) => id === ticketId)!.taken;
        return {
          'console, % of a core more than unwatched': (watched.consoleShare - alone.consoleShare) * 100,
          'console, % of a core unwatched': alone.consoleShare * 100,
          'API µs ÷ not watched': watched.apiMicros / alone.apiMicros,
          'per second': watched.perSecond,
          'viewers with other figures than Postgres': viewers.shown().filter((shown) => shown !== taken)
            .length,
          'registrations that are not kept by second': taken - ((await keptOf(installation)) ?? 0),
        };
      });
      if (values) bench.results.add('A launch that is watched', `by ${VIEWERS} people`, values, TARGETS);
      bench.progress.add(2 * (seconds + SETTLE_SECONDS));
    }
  },
};

/** Returns the registrations that the console has kept, by second. Null: it keeps none yet. */
async function keptOf({ db, live }: Installation) {
  const { rows } = await sql<{ kept: number | null }>`
    select sum(accepted)::integer as kept from sale_seconds
    where event_id = ${live.eventId}`.execute(db);
  return rows[0]!.kept;
}

/** Returns the taken seats that a snapshot shows, such as 12,345. */
const takenIn = (html: string) =>
  Number(/data-label="Taken"[^>]*>\s*([\d,]+)/.exec(html)?.[1]?.replaceAll(',', ''));

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
    shown: () => latest.map((html) => takenIn(html)),
    [Symbol.asyncDispose]: async () => leaving.abort(),
  };
}
