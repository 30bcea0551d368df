import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { Load, LoadProgress, LoadResult, Phase, RequestShape } from './load.ts';
import { RequestRecorder } from './request-recorder.ts';

/** Limit of the wait for missing answers after the load. */
const LAST_ANSWERS_MS = 10_000;
const TICK_MS = 1;
const PROGRESS_MS = 1_000;
const FIRST_CONNECTIONS = 64;
/** Less than a server's accept queue. */
const OPENED_AT_ONCE = 256;

/** Generates a load in this process. `onProgress` is called every second of an open loop. */
export async function runLoad(
  load: Load,
  onProgress: (progress: LoadProgress) => void = () => {},
): Promise<LoadResult> {
  const requests = load.requests.map((request) => rawRequest(load.baseUrl, request));
  const phases = phasesOf(load);
  const seconds = phases?.reduce((sum, phase) => sum + phase.seconds, 0) ?? load.seconds;
  const connections = await openFirst(load, phases !== undefined);
  const tally = new Tally();
  const recorder = load.logged && new RequestRecorder(requests);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  if (phases)
    await runOpenLoop(phases, new Partners(load, connections, requests, tally, recorder), onProgress);
  else await runClosedLoop(load, connections, requests, tally);
  const cpu = process.cpuUsage(cpuBefore);
  const endedAt = Math.max(startedAt + seconds * 1000, tally.lastAnswerAt);
  return {
    seconds: (endedAt - startedAt) / 1000,
    endedAt: performance.timeOrigin + endedAt,
    answers: tally.answers,
    latencyMs: tally.latency(),
    cpuMicros: cpu.user + cpu.system,
    ...(phases && { lateMs: tally.late.percentile(99) / 1000 }),
    ...(recorder && { log: recorder.log(startedAt) }),
  };
}

async function openFirst({ baseUrl, greeting, connections: most }: Load, isOpenLoop: boolean) {
  const count = isOpenLoop && !greeting ? Math.min(FIRST_CONNECTIONS, most) : most;
  const connections = await openConnections(baseUrl, count);
  if (connections.length === 0) throw new Error(`${baseUrl} accepts no connections`);
  if (greeting) await greet(connections, rawRequest(baseUrl, greeting));
  return connections;
}

function phasesOf({ phases, seconds, arrivalsPerSecond }: Load): Phase[] | undefined {
  return (
    phases ?? (arrivalsPerSecond === undefined ? undefined : [{ seconds, perSecond: arrivalsPerSecond }])
  );
}

/** Counts answers and records their latencies. */
export class Tally {
  readonly answers: Record<string, number> = {};
  lastAnswerAt = 0;
  /** How far the generator was behind its schedule, in microseconds. */
  readonly late: RecordableHistogram = createHistogram({ highest: 60_000_000, figures: 3 });
  readonly #micros: RecordableHistogram = createHistogram({ highest: 60_000_000, figures: 3 });

  add(status: string, sentAt: number): void {
    this.lastAnswerAt = performance.now();
    this.answers[status] = (this.answers[status] ?? 0) + 1;
    this.#micros.record(Math.max(1, Math.round((this.lastAnswerAt - sentAt) * 1000)));
  }

  latency(): LoadResult['latencyMs'] {
    const at = (percentile: number) => this.#micros.percentile(percentile) / 1000;
    return { p50: at(50), p90: at(90), p99: at(99), max: this.#micros.max / 1000 };
  }
}

async function runClosedLoop(
  load: Load,
  connections: Connection[],
  requests: Buffer[],
  tally: Tally,
): Promise<void> {
  const endsAt = performance.now() + load.seconds * 1000;
  let sent = 0;
  let unanswered = 0;
  const next = (connection: Connection) => {
    const sentAt = performance.now();
    if (sentAt >= endsAt) return;
    if (!connection.isOpen) {
      if (load.reconnects) void reopen();
      return;
    }
    unanswered += 1;
    connection.send(requests[sent++ % requests.length]!, (status) => {
      unanswered -= 1;
      tally.add(status, sentAt);
      next(connection);
    });
  };
  const reopen = async () => {
    const [connection] = await openConnections(load.baseUrl, 1);
    if (!connection) return;
    connections.push(connection);
    next(connection);
  };
  connections.forEach(next);
  await delay(load.seconds * 1000);
  await waitForLastAnswers(() => unanswered, tally);
  for (const connection of connections) connection.close();
}

/** Counts missing answers as well. */
async function waitForLastAnswers(count: () => number, tally: Tally): Promise<void> {
  for (const giveUpAt = performance.now() + LAST_ANSWERS_MS; count() > 0;) {
    if (performance.now() > giveUpAt) {
      tally.answers['none'] = count();
      return;
    }
    await delay(TICK_MS);
  }
}

async function runOpenLoop(
  phases: Phase[],
  partners: Partners,
  onProgress: (progress: LoadProgress) => void,
): Promise<void> {
  const reporting = setInterval(() => onProgress(partners.progress), PROGRESS_MS);
  let phaseStartsAt = performance.now();
  for (const { seconds, perSecond } of phases) {
    await runPhase({ seconds, perSecond }, phaseStartsAt, partners);
    phaseStartsAt += seconds * 1000;
  }
  await partners.finish();
  clearInterval(reporting);
}

/** Draws the arrivals of each tick of a clock that is independent of this process's delays. */
async function runPhase({ seconds, perSecond }: Phase, startsAt: number, partners: Partners): Promise<void> {
  for (let tick = 1; tick * TICK_MS <= seconds * 1000;) {
    await delay(TICK_MS);
    for (
      const now = performance.now();
      startsAt + tick * TICK_MS <= now && tick * TICK_MS <= seconds * 1000;
      tick++
    ) {
      for (let arrivals = poisson((perSecond * TICK_MS) / 1000); arrivals > 0; arrivals--)
        partners.arrive(startsAt + tick * TICK_MS);
      partners.tally.late.record(Math.max(1, Math.round((now - startsAt - tick * TICK_MS) * 1000)));
    }
    partners.sendDue();
  }
}

/** Sends arrived requests on idle connections, and opens more connections if none is idle. */
class Partners {
  readonly #load: Load;
  readonly #requests: Buffer[];
  readonly tally: Tally;
  readonly #recorder: RequestRecorder | undefined;
  readonly #idle: Connection[];
  #open: number;
  #opening = 0;
  /** Scheduled times of arrived requests, in order. Those before `#sent` are sent. */
  #arrivals: number[] = [];
  #sent = 0;
  #unanswered = 0;

  constructor(
    load: Load,
    connections: Connection[],
    requests: Buffer[],
    tally: Tally,
    recorder: RequestRecorder | undefined,
  ) {
    this.#load = load;
    this.#idle = connections;
    this.#open = connections.length;
    this.#requests = requests;
    this.tally = tally;
    this.#recorder = recorder;
  }

  arrive(at: number): void {
    this.#arrivals.push(at);
    this.#unanswered += 1;
    this.#recorder?.arrived(at);
  }

  sendDue(): void {
    this.#forgetGone();
    while (this.#dueCount > 0 && this.#idle.length > 0) {
      const connection = this.#idle.pop()!;
      // A server may close idle connections.
      if (connection.isOpen) this.#sendNext(connection);
      else this.#open -= 1;
    }
    const wanted = Math.min(
      this.#dueCount - this.#opening,
      this.#load.connections - this.#open,
      OPENED_AT_ONCE - this.#opening,
    );
    if (wanted > 0) void this.#connect(wanted);
  }

  /** Waits for missing answers and closes all connections. */
  async finish(): Promise<void> {
    await waitForLastAnswers(() => this.#unanswered, this.tally);
    for (const connection of this.#idle) connection.close();
  }

  get progress(): LoadProgress {
    return { sent: this.#sent, answered: this.#arrivals.length - this.#unanswered };
  }

  get #dueCount(): number {
    return this.#arrivals.length - this.#sent;
  }

  async #connect(count: number): Promise<void> {
    this.#open += count;
    this.#opening += count;
    const connections = await openConnections(this.#load.baseUrl, count);
    this.#opening -= count;
    // The next tick tries again to open those that failed.
    this.#open -= count - connections.length;
    for (const connection of connections) this.#sendNext(connection);
  }

  #sendNext(connection: Connection): void {
    this.#forgetGone();
    const number = this.#sent;
    const arrivedAt = this.#arrivals[number];
    if (arrivedAt === undefined) {
      this.#idle.push(connection);
      return;
    }
    this.#sent += 1;
    const request = this.#requests[number % this.#requests.length]!;
    connection.send(this.#recorder?.sending(number, request) ?? request, (status, piece) => {
      this.tally.add(status, arrivedAt);
      this.#recorder?.answered(number, status, piece);
      this.#unanswered -= 1;
      if (connection.isOpen) this.#sendNext(connection);
      else this.#open -= 1;
    });
  }

  #forgetGone(): void {
    const { patienceMs = Number.POSITIVE_INFINITY } = this.#load;
    for (const goneBefore = performance.now() - patienceMs; this.#arrivals[this.#sent]! < goneBefore;) {
      this.#recorder?.gone(this.#sent);
      this.#sent += 1;
      this.#unanswered -= 1;
    }
  }
}

/** Opens connections. Returns those that could be opened. */
async function openConnections(baseUrl: string, count: number): Promise<Connection[]> {
  const opened: Connection[] = [];
  for (let missing = count; missing > 0; missing -= OPENED_AT_ONCE) {
    const atOnce = Math.min(OPENED_AT_ONCE, missing);
    const opening = Array.from({ length: atOnce }, () => Connection.open(baseUrl));
    for (const one of await Promise.allSettled(opening))
      if (one.status === 'fulfilled') opened.push(one.value);
  }
  return opened;
}

async function greet(connections: Connection[], request: Buffer): Promise<void> {
  for (const connection of connections)
    await new Promise<void>((resolve) => connection.send(request, () => resolve()));
}

/** Returns a random number of Poisson events per tick for this mean (Knuth's method, for small means). */
function poisson(mean: number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = Math.random(); product > limit; product *= Math.random()) count += 1;
  return count;
}

function rawRequest(baseUrl: string, { method, path, headers, body = '' }: RequestShape): Buffer {
  const bodyHeaders =
    body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries({ host: new URL(baseUrl).host, ...bodyHeaders, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
