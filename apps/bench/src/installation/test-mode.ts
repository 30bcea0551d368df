import { callOf } from '../contenders/bulk.ts';
import type { RequestShape } from '@floodgate/rehearsal/load/load';
import type { Figure } from '../results.ts';
import { registrationOf, ROOMY } from '../workloads.ts';
import type { Installation } from './installation.ts';
import { measurePairs, measureSlice, ratiosOf, type SliceOptions } from './slices.ts';

const WARM_UP_SECONDS = 2;
const BULK_SIZE = 500;
const CALLS = [
  { name: 'single calls', connections: 128, of: (request: RequestShape) => request },
  { name: 'bulk calls', connections: 8, of: (request: RequestShape) => callOf(request, BULK_SIZE) },
];

/** Measures the rate of the demo's test event, divided by the rate of a live event on the same server. */
export async function testModeRatios(installation: Installation, options: SliceOptions): Promise<Figure[]> {
  const { demo, live, run } = installation;
  // The demo's outbox would compete with the next slice.
  await run('mail', 'disable', String(demo.eventId));
  const requests = {
    test: registrationOf(demo, demo.ticketId),
    live: registrationOf(live, await live.addTicket({ capacity: ROOMY })),
  };
  const figures: Figure[] = [];
  for (const { name, connections, of } of CALLS) {
    const measure = (mode: keyof typeof requests, seconds = options.seconds) =>
      measureSlice(installation, { request: of(requests[mode]), connections, seconds });
    await measure('test', WARM_UP_SECONDS);
    await measure('live', WARM_UP_SECONDS);
    const pairs = await measurePairs(
      options.rounds,
      () => measure('test'),
      () => measure('live'),
    );
    const title = `${name}, test event ÷ live event`;
    figures.push(
      { name: title, unit: '', rounds: ratiosOf(pairs, 'perSecond'), atLeast: 0.95 },
      { name: `${title}: CPU of all processes`, unit: '', rounds: ratiosOf(pairs, 'cpuMicros') },
    );
  }
  return figures;
}
