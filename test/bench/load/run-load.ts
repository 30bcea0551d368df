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
  const tally = new Tally();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  if (load.arrivalsPerSecond === undefined) await runClosedLoop(load, requests, tally);
  else await runOpenLoop(load, load.arrivalsPerSecond, requests, tally);
  const cpu = process.cpuUsage(cpuBefore);
  return {
    // What was sent before the end and answered a little later belongs to the load, and so does its time.
    seconds: Math.max(load.seconds, (tally.lastAnswerAt - startedAt) / 1000),
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

async function runClosedLoop(load: Load, requests: Buffer[], tally: Tally): Promise<void> {
  const connections = await openConnections(load.baseUrl, load.connections);
  const endsAt = performance.now() + load.seconds * 1000;
  let sent = 0;
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const next = () => {
            const sentAt = performance.now();
            if (sentAt >= endsAt) {
              connection.close();
              return resolve();
            }
            connection.send(requests[sent++ % requests.length]!, (status) => {
              tally.add(status, sentAt);
              if (connection.isOpen) next();
              else resolve();
            });
          };
          next();
        }),
    ),
  );
}

async function runOpenLoop(load: Load, perSecond: number, requests: Buffer[], tally: Tally): Promise<void> {
  const partners = new Partners(load, requests, tally);
  await partners.connect(FIRST_CONNECTIONS);
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
  const giveUpAt = performance.now() + LAST_ANSWERS_MS;
  while (partners.unanswered > 0 && performance.now() < giveUpAt) await delay(TICK_MS);
  if (partners.unanswered > 0) tally.answers['none'] = partners.unanswered;
  partners.close();
}

/** Sends what has arrived over connections that are idle, and opens more of them where none is. */
class Partners {
  unanswered = 0;
  readonly #load: Load;
  readonly #requests: Buffer[];
  readonly #tally: Tally;
  readonly #idle: Connection[] = [];
  #open = 0;
  /** Scheduled times of what has arrived and is not sent yet. */
  readonly #due: number[] = [];
  #sent = 0;

  constructor(load: Load, requests: Buffer[], tally: Tally) {
    this.#load = load;
    this.#requests = requests;
    this.#tally = tally;
  }

  arrive(at: number): void {
    this.#due.push(at);
    this.unanswered += 1;
  }

  sendDue(): void {
    while (this.#due.length > 0 && this.#idle.length > 0) this.#sendNext(this.#idle.pop()!);
    if (this.#due.length > 0) void this.connect(this.#due.length);
  }

  async connect(wanted: number): Promise<void> {
    const count = Math.min(wanted, this.#load.connections - this.#open);
    this.#open += count;
    const connections = await openConnections(this.#load.baseUrl, count);
    connections.forEach((connection) => this.#sendNext(connection));
  }

  close(): void {
    for (const connection of this.#idle) connection.close();
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
