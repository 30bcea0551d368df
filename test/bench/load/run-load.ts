import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { Load, LoadResult, RequestShape } from './load.ts';

/** Longest wait for answers that are due when the load has ended. */
const LAST_ANSWERS_MS = 10_000;
const TICK_MS = 1;
const FIRST_CONNECTIONS = 64;

/** Generates a load in this process. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const requests = load.requests.map((request) => rawRequest(load.baseUrl, request));
  const openAtFirst = load.arrivalsPerSecond === undefined ? load.connections : FIRST_CONNECTIONS;
  const connections = await openConnections(load.baseUrl, Math.min(openAtFirst, load.connections));
  const tally = new Tally();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  if (load.arrivalsPerSecond === undefined) await runClosedLoop(load, connections, requests, tally);
  else await runOpenLoop(load, load.arrivalsPerSecond, connections, requests, tally);
  const cpu = process.cpuUsage(cpuBefore);
  const endedAt = Math.max(startedAt + load.seconds * 1000, tally.lastAnswerAt);
  return {
    seconds: (endedAt - startedAt) / 1000,
    endedAt: performance.timeOrigin + endedAt,
    answers: tally.answers,
    latencyMs: tally.latency(),
    cpuMicros: cpu.user + cpu.system,
  };
}

class Tally {
  readonly answers: Record<string, number> = {};
  lastAnswerAt = 0;
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
    if (sentAt >= endsAt || !connection.isOpen) return;
    unanswered += 1;
    connection.send(requests[sent++ % requests.length]!, (status) => {
      unanswered -= 1;
      tally.add(status, sentAt);
      next(connection);
    });
  };
  connections.forEach(next);
  await delay(load.seconds * 1000);
  await waitForLastAnswers(() => unanswered, tally);
  for (const connection of connections) connection.close();
}

/** Those that never come are counted as well. */
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
  load: Load,
  perSecond: number,
  connections: Connection[],
  requests: Buffer[],
  tally: Tally,
): Promise<void> {
  const partners = new Partners(load, connections, requests, tally);
  const startedAt = performance.now();
  // Arrivals are drawn for every tick of a clock that does not care when this process gets to run.
  for (let tick = 1; tick * TICK_MS <= load.seconds * 1000;) {
    await delay(TICK_MS);
    for (const now = performance.now(); startedAt + tick * TICK_MS <= now; tick++) {
      for (let arrivals = poisson((perSecond * TICK_MS) / 1000); arrivals > 0; arrivals--)
        partners.arrive(startedAt + tick * TICK_MS);
    }
    partners.sendDue();
  }
  await waitForLastAnswers(() => partners.unanswered, tally);
  partners.close();
}

/** Sends what has arrived over connections that are idle, and opens more of them where none is. */
class Partners {
  unanswered = 0;
  readonly #load: Load;
  readonly #requests: Buffer[];
  readonly #tally: Tally;
  readonly #idle: Connection[];
  #open: number;
  #opening = 0;
  /** Scheduled times of what has arrived and is not sent yet. */
  readonly #due: number[] = [];
  #sent = 0;

  constructor(load: Load, connections: Connection[], requests: Buffer[], tally: Tally) {
    this.#load = load;
    this.#idle = connections;
    this.#open = connections.length;
    this.#requests = requests;
    this.#tally = tally;
  }

  arrive(at: number): void {
    this.#due.push(at);
    this.unanswered += 1;
  }

  sendDue(): void {
    while (this.#due.length > 0 && this.#idle.length > 0) {
      const connection = this.#idle.pop()!;
      // A server may close what has been idle for long.
      if (connection.isOpen) this.#sendNext(connection);
      else this.#open -= 1;
    }
    const wanted = Math.min(this.#due.length - this.#opening, this.#load.connections - this.#open);
    if (wanted > 0) void this.#connect(wanted);
  }

  close(): void {
    for (const connection of this.#idle) connection.close();
  }

  async #connect(count: number): Promise<void> {
    this.#open += count;
    this.#opening += count;
    const connections = await openConnections(this.#load.baseUrl, count);
    this.#opening -= count;
    for (const connection of connections) this.#sendNext(connection);
  }

  #sendNext(connection: Connection): void {
    const arrivedAt = this.#due.shift();
    if (arrivedAt === undefined) {
      this.#idle.push(connection);
      return;
    }
    connection.send(this.#requests[this.#sent++ % this.#requests.length]!, (status) => {
      this.#tally.add(status, arrivedAt);
      this.unanswered -= 1;
      if (connection.isOpen) this.#sendNext(connection);
      else this.#open -= 1;
    });
  }
}

function openConnections(baseUrl: string, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(baseUrl)));
}

/** Draws how many events of a Poisson process with this mean fall into one tick (Knuth's method; small means only). */
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
