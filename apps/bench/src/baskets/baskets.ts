import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { grantEvent } from '@floodgate/events';
import { createPartner, issueKey } from '@floodgate/partners';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type RequestShape } from '@floodgate/rehearsal/load/load';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { attendee } from '@floodgate/test/harness/partner-client.ts';
import { allocateTicketAction } from '@floodgate/tickets/actions';
import { openFloodgate } from '../contenders/floodgate.ts';
import { attempt, type Bench, type Mode, type Settings } from '../mode.ts';
import { registrationOf, ROOMY } from '../rates/workloads.ts';
import { atLeast } from '../report/results.ts';
import { createCall, dataOf } from './calls.ts';

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 2;
const PARTNERS = 10;
const OVERHEAD_SECONDS = 30;
/** Loads of a round: a pair for each kind of basket, and one for the allocations. */
const LOADS = 10;
const CONTACT = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };

/**
 * Measures the seats a second that partners sell by Hold Seats and Confirm Hold, and the rate of a ticket of
 * ten partners with allocations. Register For Event, and a ticket without allocations, are measured next to
 * them.
 */
export const BASKETS: Mode = {
  name: 'baskets',
  help: 'seats sold by hold and confirm beside register, and a ticket with allocations beside one without',
  usual: { pairs: 6, seconds: 4 },
  duration: ({ pairs, seconds }) => pairs * LOADS * seconds + OVERHEAD_SECONDS,
  measure: async (bench, settings) => {
    // The only partner may hold all seats.
    await using floodgate = await openFloodgate(bench.servers, { api: { HOLD_SHARE_PERCENT: '100' } });
    const { db, baseUrl } = floodgate;
    const fixture = await createFixture(db);
    await sellFromBaskets(bench, baseUrl, fixture, settings);
    await sellAllocations(bench, baseUrl, db, fixture, settings);
  },
};

/** Sells one basket, and resolves to its seats. */
type Sell = () => Promise<number>;

async function sellFromBaskets(
  bench: Bench,
  baseUrl: string,
  fixture: Fixture,
  { pairs, seconds }: Settings,
): Promise<void> {
  const ticketId = await fixture.addTicket({ capacity: ROOMY });
  const send = createCall(baseUrl, fixture, CONNECTIONS);
  const call = async (path: string, body: object) => dataOf(path, await send(path, body));
  const register: Sell = async () => {
    await call('/register', attendee(ticketId));
    return 1;
  };
  const basketOf =
    (most: number, confirmedShare: number): Sell =>
    async () => {
      const seats = confirmedShare < 1 ? 1 + Math.floor(Math.random() * most) : most;
      const tickets = [{ organizedEventTicketID: ticketId, seats }];
      const { holdReference } = (await call('/holds', { tickets })) as { holdReference: string };
      if (Math.random() < confirmedShare) await call(`/holds/${holdReference}/confirm`, { contact: CONTACT });
      return seats;
    };
  const baskets: Record<string, Sell> = {
    'baskets of 1 to 4, nine of ten abandoned': basketOf(4, 0.1),
    'baskets of 1': basketOf(1, 1),
    'baskets of 2': basketOf(2, 1),
    'baskets of 4': basketOf(4, 1),
  };
  for (const [name, sell] of Object.entries(baskets)) {
    await seatsPerSecond(sell, WARM_UP_SECONDS);
    for (let round = 1; round <= pairs; round += 1) {
      const values = await attempt(bench, `${name}, round ${round}`, async () => {
        const registered = await seatsPerSecond(register, seconds);
        const sold = await seatsPerSecond(sell, seconds);
        return { '÷ register': sold / registered, 'seats/s': sold, 'seats/s by register': registered };
      });
      if (values) bench.results.add('Hold and confirm', name, values, { '÷ register': atLeast(0.5) });
      bench.progress.add(2 * seconds);
    }
  }
}

/** Returns the seats a second that this many buyers get, each one basket after the other. */
async function seatsPerSecond(sell: Sell, seconds: number): Promise<number> {
  const endAt = performance.now() + seconds * 1_000;
  const buy = async () => {
    let seats = 0;
    while (performance.now() < endAt) seats += await sell();
    return seats;
  };
  const sold = await Promise.all(Array.from({ length: CONNECTIONS }, buy));
  return sold.reduce((sum, seats) => sum + seats, 0) / seconds;
}

async function sellAllocations(
  bench: Bench,
  baseUrl: string,
  db: Database,
  fixture: Fixture,
  { pairs, seconds }: Settings,
): Promise<void> {
  const [plain, allocated] = [
    await fixture.addTicket({ capacity: ROOMY }),
    await fixture.addTicket({ capacity: ROOMY }),
  ];
  const callers = [fixture];
  while (callers.length < PARTNERS) callers.push(await openToAnother(db, fixture));
  const reserved = Math.floor(ROOMY / PARTNERS / 2);
  for (const { partnerId } of callers)
    await perform(db, allocateTicketAction, { ticketId: allocated, partnerId, reserved }, 'bench');
  const measure = async (ticketId: number, length = seconds): Promise<number> => {
    const requests: RequestShape[] = callers.map((caller) => registrationOf(caller, ticketId));
    const result = await generateLoad({ baseUrl, requests, connections: CONNECTIONS, seconds: length });
    return answersOf(result, OK) / result.seconds;
  };
  await measure(allocated, WARM_UP_SECONDS);
  const row = `hot ticket of ${PARTNERS} partners`;
  for (let round = 1; round <= pairs; round += 1) {
    const values = await attempt(bench, `allocations, round ${round}`, async () => {
      const before = round % 2 === 1 ? await measure(plain) : undefined;
      const rate = await measure(allocated);
      return { '÷ without': rate / (before ?? (await measure(plain))), 'per second': rate };
    });
    if (values) bench.results.add('Allocations', row, values, { '÷ without': atLeast(0.8) });
    bench.progress.add(2 * seconds);
  }
}

async function openToAnother(db: Database, fixture: Fixture): Promise<Fixture> {
  const { id: partnerId } = await createPartner(db, `bench ${Math.random()}`);
  await grantEvent(db, partnerId, fixture.eventId);
  const { secretKey } = await issueKey(db, partnerId, null);
  return { ...fixture, partnerId, secretKey };
}
