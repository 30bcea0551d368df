import { randomUUID } from 'node:crypto';
import { Failure } from '@floodgate/service/failure';
import { generateLoad } from './load/generate.ts';
import { NUMBER, type Load, type LoadProgress, type RequestShape } from './load/load.ts';
import { adviceOf, figuresOf, judge } from './objectives.ts';
import { observe } from './observe.ts';

const TEST_KEY = 'fg_test_';
const ANSWER_WITHIN_MS = 10_000;
/** A person who waits longer for a connection leaves. */
const PATIENCE_MS = 10_000;

interface RehearsalOptions {
  /** The address of the API or of its proxy. */
  url: string;
  /** A key for test events. */
  secretKey: string;
  eventRef: string;
  /** Undefined: the ticket on sale with the most seats left. */
  ticketId?: number | undefined;
  perSecond: number;
  seconds: number;
  /** Maximum number. */
  connections: number;
  /** The addresses of the metrics of the API processes and of a worker. */
  metrics?: readonly string[];
  onProgress: (progress: LoadProgress) => void;
}

/** The result of a rehearsal. */
export type Rehearsal = Awaited<ReturnType<typeof rehearse>>;

/**
 * Registers people who do not exist for a test event, as a launch does: they arrive at random times, however
 * long the answers take. Throws Failure if the key is not for test events, the event has no ticket on sale,
 * or the metrics cannot be read.
 */
export async function rehearse(options: RehearsalOptions) {
  const { url, perSecond, seconds, connections, metrics = [], onProgress } = options;
  if (!options.secretKey.startsWith(TEST_KEY))
    throw new Failure(`a rehearsal needs a key for test events: it begins with ${TEST_KEY}`);
  const request = registrationFor(options, await ticketOf(options));
  const people = { arrivalsPerSecond: perSecond, seconds, patienceMs: PATIENCE_MS };
  const load: Load = { baseUrl: url, requests: [request], connections, ...people, logged: true };
  const startedAt = new Date();
  const { result, observed } = await observe(metrics, () => generateLoad(load, onProgress));
  const log = result.log!;
  const figures = figuresOf(log, result.lateMs);
  const objectives = judge(figures);
  const advice = adviceOf(figures, objectives, observed);
  return { url, perSecond, seconds, startedAt, figures, objectives, advice, log };
}

type Caller = Pick<RehearsalOptions, 'secretKey' | 'eventRef'>;

const headersOf = ({ secretKey, eventRef }: Caller) => ({
  'x-secret-key': secretKey,
  'x-event-ref': eventRef,
});

async function ticketOf(options: RehearsalOptions) {
  const answer = await fetch(new URL('/api/v1/events/tickets', options.url), {
    headers: headersOf(options),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch((error: Error) => {
    throw new Failure(`${new URL(options.url).host} does not answer (${error.message})`);
  });
  const body = (await answer.json().catch(() => null)) as Record<string, unknown> | null;
  if (body?.['responseCode'] !== '00')
    throw new Failure(`Get Tickets was answered ${answer.status}: ${String(body?.['responseMessage'])}`);
  if (options.ticketId !== undefined) return options.ticketId;
  const tickets = body['responseData'] as { id: number; count: number }[];
  const [roomiest] = tickets.toSorted((one, other) => other.count - one.count);
  if (!roomiest) throw new Failure('the event has no ticket on sale');
  return roomiest.id;
}

/** Returns a registration. Each one sent has an address of its own, which does not exist. */
export function registrationFor(caller: Caller, organizedEventTicketID: number): RequestShape {
  const attendee = { fullName: 'Rehearsal', emailAddress: `${NUMBER}@${randomUUID()}.invalid` };
  return {
    method: 'POST',
    path: '/api/v1/events/register',
    headers: headersOf(caller),
    body: JSON.stringify({ organizedEventTicketID, ...attendee }),
  };
}
