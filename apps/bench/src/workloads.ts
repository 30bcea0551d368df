import { attendee } from '@floodgate/test/harness/partner-client.ts';
import { callOf } from './contenders/bulk.ts';
import type { RunFixture } from './contenders/contender.ts';
import { LISTED_TICKETS } from './contenders/example-tickets.ts';
import type { Load, RequestShape } from '@floodgate/rehearsal/load/load';

/** More seats than any run can sell. */
export const ROOMY = 2_000_000_000;

export interface Workload {
  name: string;
  /** One line for a reader. */
  description: string;
  /** The unit of the compared rate. */
  counts: 'finalized registrations' | 'answers';
  /** Which answers are expected in addition to "00", and whether all requests are registrations. */
  answers: 'registered' | 'may be sold out' | 'not only registrations';
  connections: number;
  /** Whether the load sets the rate. */
  paced: boolean;
  /**
   * Creates the tickets and returns the requests for the warm-up and the measurement. `peak` is the contender's rate with one hot ticket in
   * registrations per second, and `seconds` the length of the measurement.
   */
  prepare(fixture: RunFixture, peak: number, seconds: number): Promise<Prepared>;
  /** Whether `prepare` needs the peak, so that one hot ticket must be measured first. */
  needsPeak?: boolean;
}

export interface Prepared extends Pick<Load, 'requests' | 'arrivalsPerSecond'> {
  warmUp: RequestShape[];
}

const closed = (requests: RequestShape[], warmUp = requests): Prepared => ({ requests, warmUp });

/** One ticket that does not sell out. */
export function hotTicket(connections: number): Workload {
  return {
    name: 'hot ticket',
    description: 'one ticket that does not sell out; each connection sends when it is answered',
    counts: 'finalized registrations',
    answers: 'registered',
    connections,
    paced: false,
    prepare: async (fixture) => closed([await registerRequest(fixture)]),
  };
}

export const sellOut: Workload = {
  name: 'sell-out',
  description: 'one ticket that sells out half-way, 128 connections; the rest is answered "sold out"',
  counts: 'answers',
  answers: 'may be sold out',
  connections: 128,
  paced: false,
  needsPeak: true,
  prepare: async (fixture, peak, seconds) =>
    closed(
      [await registerRequest(fixture, Math.max(1, Math.round((peak * seconds) / 2)))],
      [await registerRequest(fixture)],
    ),
};

export const manyTickets: Workload = {
  name: '100 tickets',
  description: '100 tickets of one event, evenly, 128 connections',
  counts: 'finalized registrations',
  answers: 'registered',
  connections: 128,
  paced: false,
  prepare: async (fixture) => {
    const requests: RequestShape[] = [];
    for (let ticket = 0; ticket < 100; ticket++) requests.push(await registerRequest(fixture));
    return closed(requests);
  },
};

export const manyEvents: Workload = {
  name: '1000 events',
  description: '1,000 events of one ticket each, evenly, 128 connections',
  counts: 'finalized registrations',
  answers: 'registered',
  connections: 128,
  paced: false,
  prepare: async (fixture) => {
    const events = await fixture.addEvents!(1_000, ROOMY);
    return closed(events.map(({ eventRef, ticketId }) => registrationOf({ ...fixture, eventRef }, ticketId)));
  },
};

/** Registrations per bulk call. */
const CALL_SIZE = 500;

export const bulkCalls: Workload = {
  name: 'bulk',
  description: `bulk calls of ${CALL_SIZE} for one ticket that does not sell out, 8 connections`,
  counts: 'finalized registrations',
  answers: 'not only registrations',
  connections: 8,
  paced: false,
  prepare: async (fixture) => closed([callOf(await registerRequest(fixture), CALL_SIZE)]),
};

export const mix: Workload = {
  name: 'mix',
  description: '90 % Get Tickets and 10 % register, 128 connections',
  counts: 'answers',
  answers: 'not only registrations',
  connections: 128,
  paced: false,
  prepare: async (fixture) => {
    const register = await registerRequest(fixture);
    return closed([register, ...Array.from({ length: 9 }, () => ticketsRequest(fixture))]);
  },
};

export const getTickets: Workload = {
  name: 'Get Tickets',
  description: `nothing but Get Tickets of an event with ${LISTED_TICKETS} tickets, 128 connections`,
  counts: 'answers',
  answers: 'not only registrations',
  connections: 128,
  paced: false,
  prepare: async (fixture) => {
    for (let ticket = 0; ticket < LISTED_TICKETS; ticket++) await fixture.addTicket({ capacity: ROOMY });
    return closed([ticketsRequest(fixture)]);
  },
};

/** Open-loop registrations. */
export function openLoop(perSecond: number): Workload {
  return {
    name: `${perSecond}/s`,
    description: `one hot ticket, registrations arrive at ${perSecond}/s (Poisson), answered or not`,
    counts: 'answers',
    answers: 'registered',
    connections: 512,
    paced: true,
    prepare: async (fixture) => ({
      ...closed([await registerRequest(fixture)]),
      arrivalsPerSecond: perSecond,
    }),
  };
}

/** Open-loop registrations at a share of the contender's peak. */
export function shareOfPeak(percent: number): Workload {
  return {
    ...openLoop(0),
    name: `${percent} % of peak`,
    description: `one hot ticket, registrations arrive at ${percent} % of the contender's own peak (Poisson)`,
    needsPeak: true,
    prepare: async (fixture, peak) => ({
      ...closed([await registerRequest(fixture)]),
      arrivalsPerSecond: Math.max(1, Math.round((peak * percent) / 100)),
    }),
  };
}

/** Creates a ticket and returns a registration for it. `differing` goes into the body. */
export async function registerRequest(
  fixture: RunFixture,
  capacity = ROOMY,
  differing: Record<string, unknown> = {},
): Promise<RequestShape> {
  return registrationOf(fixture, await fixture.addTicket({ capacity }), differing);
}

/** Returns a registration for this ticket. */
export function registrationOf(
  caller: Pick<RunFixture, 'secretKey' | 'eventRef'>,
  ticketId: number,
  differing: Record<string, unknown> = {},
): RequestShape {
  return {
    method: 'POST',
    path: '/api/v1/events/register',
    headers: callerHeaders(caller),
    body: JSON.stringify(attendee(ticketId, differing)),
  };
}

function ticketsRequest(fixture: RunFixture): RequestShape {
  return { method: 'GET', path: '/api/v1/events/tickets', headers: callerHeaders(fixture) };
}

const callerHeaders = ({ secretKey, eventRef }: Pick<RunFixture, 'secretKey' | 'eventRef'>) => ({
  'x-secret-key': secretKey,
  'x-event-ref': eventRef,
});
