import { setTimeout as delay } from 'node:timers/promises';
import { OPENED_AT_ONCE, openConnections, type Connection } from './connection.ts';
import type { Load, LoadResult, Phase } from './load.ts';
import { createRecorder, createTally, type RequestRecorder } from './tally.ts';

const TICK_MS = 1;

/**
 * Sends arrived requests on idle connections, and opens more connections if none is idle. In a closed loop, a
 * request arrives whenever a connection is idle.
 */
export class Partners {
  readonly #load: Load;
  readonly #requests: Buffer[];
  readonly #idle: Connection[];
  readonly #tally = createTally();
  readonly #recorder: RequestRecorder | undefined;
  #open: number;
  #opening = 0;
  /** Scheduled times of arrived requests, in order. Those before `#next` are sent or gone. */
  #arrivals: number[] = [];
  #next = 0;
  #gone = 0;
  #answered = 0;
  /** End of a closed loop. */
  #busyUntil = 0;

  /** `connections` are open. */
  constructor(load: Load, requests: Buffer[], connections: Connection[]) {
    this.#load = load;
    this.#requests = requests;
    this.#idle = connections;
    this.#open = connections.length;
    this.#recorder = load.logged && createRecorder(requests);
  }

  /** Keeps all connections busy for the time of the load. */
  async stayBusy() {
    const ms = this.#load.seconds * 1000;
    this.#busyUntil = performance.now() + ms;
    for (const connection of this.#idle.splice(0)) this.#use(connection);
    await delay(ms);
  }

  /** Draws the arrivals of each tick of a clock that is independent of this process's delays. */
  async runPhase({ seconds, perSecond }: Phase, startsAt: number) {
    const endsAt = startsAt + seconds * 1000;
    for (let at = startsAt + TICK_MS; at <= endsAt;) {
      await delay(TICK_MS);
      const now = performance.now();
      for (; at <= Math.min(now, endsAt); at += TICK_MS) {
        const arrivals = poisson((perSecond * TICK_MS) / 1000);
        for (let count = 0; count < arrivals; count += 1) this.#arrive(at);
        this.#tally.addDelay(now - at);
      }
      this.#sendDue();
    }
  }

  #arrive(at: number) {
    this.#arrivals.push(at);
    this.#recorder?.arrived(at);
  }

  #sendDue() {
    this.#forgetGone();
    while (this.#dueCount > 0 && this.#idle.length > 0) this.#use(this.#idle.pop()!);
    const wanted = Math.min(
      this.#dueCount - this.#opening,
      this.#load.connections - this.#open,
      OPENED_AT_ONCE - this.#opening,
    );
    if (wanted > 0) void this.#connect(wanted);
  }

  /**
   * Waits for missing answers and closes all connections. Resolves to the result of a load that was requested
   * for this time.
   */
  async finish(seconds: number): Promise<LoadResult> {
    await this.#tally.waitForLast(() => this.#arrivals.length - this.#gone - this.#answered);
    for (const connection of this.#idle) connection.close();
    const log = this.#recorder?.log(this.#tally.startedAt);
    return { ...this.#tally.result(seconds), ...(log && { log }) };
  }

  get progress() {
    return { sent: this.#next - this.#gone, answered: this.#answered };
  }

  get #dueCount() {
    return this.#arrivals.length - this.#next;
  }

  async #connect(count: number) {
    this.#open += count;
    this.#opening += count;
    const connections = await openConnections(this.#load.baseUrl, count);
    this.#opening -= count;
    // The next tick tries again to open those that failed.
    this.#open -= count - connections.length;
    for (const connection of connections) this.#sendNext(connection);
  }

  #use(connection: Connection) {
    if (connection.isOpen()) return this.#sendNext(connection);
    // A server may close connections.
    this.#open -= 1;
    if (this.#load.reconnects && performance.now() < this.#busyUntil) void this.#connect(1);
  }

  #sendNext(connection: Connection) {
    const now = performance.now();
    if (now < this.#busyUntil) this.#arrive(now);
    this.#forgetGone();
    const arrivedAt = this.#arrivals[this.#next];
    if (arrivedAt === undefined) this.#idle.push(connection);
    else this.#send(connection, arrivedAt);
  }

  #send(connection: Connection, arrivedAt: number) {
    const number = this.#next;
    this.#next += 1;
    const request = this.#requests[number % this.#requests.length]!;
    connection.send(this.#recorder?.sending(number, request) ?? request, (status, piece) => {
      this.#tally.add(status, arrivedAt);
      this.#recorder?.answered(number, status, piece);
      this.#answered += 1;
      this.#use(connection);
    });
  }

  #forgetGone() {
    const { patienceMs = Infinity } = this.#load;
    for (const goneBefore = performance.now() - patienceMs; this.#arrivals[this.#next]! < goneBefore;) {
      this.#recorder?.gone(this.#next);
      this.#next += 1;
      this.#gone += 1;
    }
  }
}

/** Returns a random number of Poisson events per tick for this mean (Knuth's method, for small means). */
function poisson(mean: number) {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = Math.random(); product > limit; product *= Math.random()) count += 1;
  return count;
}
