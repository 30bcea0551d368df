import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { grantEvent } from '@floodgate/events';
import { createPartner, issueKey } from '@floodgate/partners';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type RequestShape } from '@floodgate/rehearsal/load/load';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { attendee } from '@floodgate/test/harness/partner-client.ts';
import { allocateTicketAction } from '@floodgate/tickets/actions';
import { startFloodgate } from '../contenders/floodgate.ts';
import type { Figure } from '../results.ts';
import type { Servers } from '../servers.ts';
import { registrationOf, ROOMY } from '../workloads.ts';
import { createCall, dataOf } from './calls.ts';

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 2;
const PARTNERS = 10;
const CONTACT = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };

/**
 * Measures the seats a second that partners sell by Hold Seats and Confirm Hold, divided by those of Register For Event; and the rate of
 * a ticket of ten partners with allocations, divided by that of one without.
 */
export async function basketRatios(servers: Servers, rounds: number, seconds: number): Promise<Figure[]> {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  const { url, db } = database;
  const settings = { HOLD_SHARE_PERCENT: '100' };
  const running = await startFloodgate({ databaseUrl: url, redisUrl: servers.redisUrl, db }, settings);
  try {
    const fixture = await createFixture(db);
    return [
      ...(await sellFromBaskets(running.baseUrl, fixture, rounds, seconds)),
      await sellAllocations(running.baseUrl, db, fixture, rounds, seconds),
    ];
  } finally {
    await running.stop();
  }
}

async function sellFromBaskets(baseUrl: string, fixture: Fixture, rounds: number, seconds: number) {
  const ticketId = await fixture.addTicket({ capacity: ROOMY });
  const send = createCall(baseUrl, fixture, CONNECTIONS);
  const call = async (path: string, body: object) => dataOf(path, await send(path, body));
  const register = async () => {
    await call('/register', attendee(ticketId));
    return 1;
  };
  const basketOf = (most: number, confirmedShare: number) => async () => {
    const seats = confirmedShare < 1 ? 1 + Math.floor(Math.random() * most) : most;
    const tickets = [{ organizedEventTicketID: ticketId, seats }];
    const { holdReference } = (await call('/holds', { tickets })) as { holdReference: string };
    if (Math.random() < confirmedShare) await call(`/holds/${holdReference}/confirm`, { contact: CONTACT });
    return seats;
  };
  const baskets = {
    'baskets of 1 to 4, nine of ten abandoned': basketOf(4, 0.1),
    'baskets of 1': basketOf(1, 1),
    'baskets of 2': basketOf(2, 1),
    'baskets of 4': basketOf(4, 1),
  };
  const figures: Figure[] = [];
  for (const [name, sell] of Object.entries(baskets)) {
    const ratios: number[] = [];
    await seatsPerSecond(sell, WARM_UP_SECONDS);
    for (let round = 0; round < rounds; round += 1) {
      const before = await seatsPerSecond(register, seconds);
      ratios.push((await seatsPerSecond(sell, seconds)) / before);
    }
    figures.push({
      name: `hold and confirm ÷ register, seats a second, ${name}`,
      unit: '',
      rounds: ratios,
      atLeast: 0.5,
    });
  }
  return figures;
}

/** Returns the seats a second that this many buyers get, each one basket after the other. */
async function seatsPerSecond(sell: () => Promise<number>, seconds: number): Promise<number> {
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
  baseUrl: string,
  db: Database,
  fixture: Fixture,
  rounds: number,
  seconds: number,
) {
  const [plain, allocated] = [
    await fixture.addTicket({ capacity: ROOMY }),
    await fixture.addTicket({ capacity: ROOMY }),
  ];
  const callers = [fixture];
  while (callers.length < PARTNERS) callers.push(await openToAnother(db, fixture));
  const reserved = Math.floor(ROOMY / PARTNERS / 2);
  for (const { partnerId } of callers)
    await perform(db, allocateTicketAction, { ticketId: allocated, partnerId, reserved }, 'bench');
  const measure = async (ticketId: number, length = seconds) => {
    const requests: RequestShape[] = callers.map((caller) => registrationOf(caller, ticketId));
    const result = await generateLoad({ baseUrl, requests, connections: CONNECTIONS, seconds: length });
    return answersOf(result, OK) / result.seconds;
  };
  await measure(allocated, WARM_UP_SECONDS);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = round % 2 === 0 ? await measure(plain) : undefined;
    const rate = await measure(allocated);
    ratios.push(rate / (before ?? (await measure(plain))));
  }
  const name = `hot ticket of ${PARTNERS} partners with allocations ÷ without`;
  return { name, unit: '', rounds: ratios, atLeast: 0.8 };
}

async function openToAnother(db: Database, fixture: Fixture): Promise<Fixture> {
  const { id: partnerId } = await createPartner(db, `bench ${Math.random()}`);
  await grantEvent(db, partnerId, fixture.eventId);
  const { secretKey } = await issueKey(db, partnerId, null);
  return { ...fixture, partnerId, secretKey };
}
