import { generateLoad } from '@floodgate/rehearsal/load/generate';
import type { Load, LoadResult, RequestShape } from '@floodgate/rehearsal/load/load';
import { attendee } from '@floodgate/test/harness/partner-client.ts';
import type { RunFixture } from '../contenders/contender.ts';
import { LISTED_TICKETS } from '../contenders/example-tickets.ts';

/** More seats than any run can sell. */
export const ROOMY = 2_000_000_000;

/** A load that every contender gets. */
export interface Workload {
  name: string;
  /** One line for a reader. */
  description: string;
  connections: number;
  /** Open loop: requests per second. Absent: each connection sends when it is answered. */
  arrivalsPerSecond?: number;
  /** Open loop: the rate as a share of the contender's peak, instead. */
  shareOfPeak?: number;
  /** Registrations of an accepted request. Absent: 1. */
  size?: number;
  /** What the books must say. "stored": each accepted request is stored, `size` times. */
  books: 'stored' | 'stored or sold out' | 'not only registrations';
  /** Creates the tickets and returns the requests. */
  prepare(fixture: RunFixture): Promise<RequestShape[]>;
  /**
   * The same for the measurement, if it differs from the warm-up. `seats`: about as many as a run could sell.
   */
  prepareMeasured?(fixture: RunFixture, seats: number): Promise<RequestShape[]>;
  /** Generates the load. Absent: HTTP requests of the load generator. */
  generate?(load: Load): Promise<LoadResult>;
}

/** Whether a workload needs the contender's rate with one hot ticket, so that this must be measured first. */
export const needsPeak = ({ shareOfPeak, prepareMeasured }: Workload): boolean =>
  shareOfPeak !== undefined || prepareMeasured !== undefined;

/** One ticket that does not sell out. */
export const hotTicket = (connections: number): Workload => ({
  name: connections === 128 ? 'hot ticket' : `hot ticket, ${connections} connections`,
  description: 'One ticket that does not sell out. Each connection sends when it is answered.',
  connections,
  books: 'stored',
  prepare: async (fixture) => [await registerRequest(fixture)],
});

export const sellOut: Workload = {
  ...hotTicket(128),
  name: 'sell-out',
  description: 'One ticket that sells out half-way, 128 connections. The rest is answered "sold out".',
  books: 'stored or sold out',
  prepareMeasured: async (fixture, seats) => [
    await registerRequest(fixture, Math.max(1, Math.round(seats / 2))),
  ],
};

export const manyTickets: Workload = {
  name: '100 tickets',
  description: '100 tickets of one event, evenly, 128 connections.',
  connections: 128,
  books: 'stored',
  prepare: async (fixture) => {
    const requests: RequestShape[] = [];
    for (let ticket = 0; ticket < 100; ticket += 1) requests.push(await registerRequest(fixture));
    return requests;
  },
};

export const manyEvents: Workload = {
  name: '1000 events',
  description: '1,000 events of one ticket each, evenly, 128 connections.',
  connections: 128,
  books: 'stored',
  prepare: async (fixture) => {
    const events = await fixture.addEvents(1_000, ROOMY);
    return events.map(({ eventRef, ticketId }) => registrationOf({ ...fixture, eventRef }, ticketId));
  },
};

/** Registrations in a bulk call. */
const CALL_SIZE = 500;

export const bulk: Workload = {
  name: 'bulk',
  // Eight calls are twice those of one commit: one half is answered while the other is committed.
  description: `Bulk calls of ${CALL_SIZE} for one ticket that does not sell out, eight connections.`,
  connections: 8,
  size: CALL_SIZE,
  books: 'stored',
  prepare: async (fixture) => [callOf(await registerRequest(fixture), CALL_SIZE)],
};

const CLIENT = new URL('client-main.ts', import.meta.url);

export const client: Workload = {
  ...hotTicket(4_000),
  name: 'client',
  description: 'One process with 4,000 calls of register() of @floodgate/client at the same time.',
  generate: (load) => generateLoad(load, undefined, CLIENT),
};

export const mix: Workload = {
  name: 'mix',
  description: '90 % Get Tickets and 10 % register, 128 connections.',
  connections: 128,
  books: 'not only registrations',
  prepare: async (fixture) => [
    await registerRequest(fixture),
    ...Array.from({ length: 9 }, () => ticketsRequest(fixture)),
  ],
};

export const getTickets: Workload = {
  name: 'Get Tickets',
  description: `Nothing but Get Tickets of an event with ${LISTED_TICKETS} tickets, 128 connections.`,
  connections: 128,
  books: 'not only registrations',
  prepare: async (fixture) => {
    for (let ticket = 0; ticket < LISTED_TICKETS; ticket += 1) await fixture.addTicket({ capacity: ROOMY });
    return [ticketsRequest(fixture)];
  },
};

/** Open-loop registrations. */
export const openLoop = (perSecond: number): Workload => ({
  ...hotTicket(512),
  name: `${perSecond}/s`,
  description: `One hot ticket. Registrations arrive at ${perSecond}/s (Poisson), answered or not.`,
  arrivalsPerSecond: perSecond,
});

/** Open-loop registrations at a share of the contender's peak. */
export const shareOfPeak = (percent: number): Workload => ({
  ...hotTicket(512),
  name: `${percent} % of peak`,
  description: `One hot ticket. Registrations arrive at ${percent} % of the contender's own peak (Poisson).`,
  shareOfPeak: percent / 100,
});

/** Creates a ticket and returns a registration for it. `differing` goes into the body. */
export async function registerRequest(
  fixture: Omit<RunFixture, 'addEvents'>,
  capacity = ROOMY,
  differing: Record<string, unknown> = {},
): Promise<RequestShape> {
  return registrationOf(fixture, await fixture.addTicket({ capacity }), differing);
}

type Caller = Pick<RunFixture, 'secretKey' | 'eventRef'>;

/** Returns a registration for this ticket. */
export function registrationOf(
  caller: Caller,
  ticketId: number,
  differing: Record<string, unknown> = {},
): RequestShape {
  return {
    method: 'POST',
    path: '/api/v1/events/register',
    headers: headersOf(caller),
    body: JSON.stringify(attendee(ticketId, differing)),
  };
}

/** Returns a bulk call with copies of the registration. */
export function callOf(request: RequestShape, size: number): RequestShape {
  const registrations = Array.from({ length: size }, () => request.body).join(',');
  return { ...request, path: `${request.path}/bulk`, body: `{"registrations":[${registrations}]}` };
}

const ticketsRequest = (caller: Caller): RequestShape => ({
  method: 'GET',
  path: '/api/v1/events/tickets',
  headers: headersOf(caller),
});

const headersOf = ({ secretKey, eventRef }: Caller): Record<string, string> => ({
  'x-secret-key': secretKey,
  'x-event-ref': eventRef,
});
