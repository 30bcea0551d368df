/** The answer of the shared counter to a draw. */
export interface Draw {
  /** Permits that were drawn of this window before, by all processes; may exceed the limit. */
  drawnBefore: number;
  /** How long the window lasts from the moment the statement began, by Postgres's clock. */
  endsInMs: number;
}

/** Whether a request may pass, and how many more may follow it in this second as far as this process knows. */
export interface Verdict {
  admitted: boolean;
  remaining: number;
  /** Milliseconds until the second ends. */
  endsInMs: number;
  /** When it may pass, of who may not: behind all who were refused before in this second. */
  retryAfterSeconds?: number;
}

const WINDOW_MS = 1_000;
/** A process draws at most this part of the limit ahead of need. */
const CHUNKS_PER_WINDOW = 10;

/**
 * One process's share of a rate limit. Permits are drawn in chunks from a counter that all processes share, and expire with the second
 * in which they were drawn. So all processes together never exceed the limit. A process draws at most as many permits ahead as it has
 * spent in this second, so a process with little traffic does not keep permits that another one could use.
 */
export class QuotaLease {
  readonly #draw: (wanted: number) => Promise<Draw | null>;
  #drawing: Promise<void> | null = null;
  #waiting = 0;
  #endsAt = -Infinity;
  #permits = 0;
  #spent = 0;
  /** Permits that were refused in this second. */
  #refused = 0;
  /** Permits that all processes together have drawn of this second, as far as is known. */
  #drawn = 0;

  /** `draw` asks the shared counter for permits. It must not reject: null says that the counter is out of reach. */
  constructor(draw: (wanted: number) => Promise<Draw | null>) {
    this.#draw = draw;
  }

  /**
   * Takes permits under a limit per second, all of them or none. Answers at once if this process has enough, or if no process can get
   * enough.
   */
  async take(limit: number, permits = 1): Promise<Verdict> {
    for (;;) {
      const endsInMs = Math.max(0, this.#endsAt - performance.now());
      // Drawing them would only take permits away from others.
      if (permits > limit) return { admitted: false, remaining: 0, endsInMs };
      const undrawn = Math.max(0, limit - this.#drawn);
      const remaining = Math.min(limit, this.#permits - permits + undrawn);
      if (endsInMs > 0 && this.#permits >= permits) {
        this.#permits -= permits;
        this.#spent += permits;
        return { admitted: true, remaining, endsInMs };
      }
      if (endsInMs > 0 && remaining < 0) {
        this.#refused += permits;
        const retryAfterSeconds = Math.ceil(this.#refused / limit);
        return { admitted: false, remaining: remaining + permits, endsInMs, retryAfterSeconds };
      }
      this.#waiting += permits;
      this.#drawing ??= this.#drawMore(limit).finally(() => (this.#drawing = null));
      await this.#drawing;
      this.#waiting -= permits;
    }
  }

  async #drawMore(limit: number): Promise<void> {
    const startedAt = performance.now();
    const isOver = startedAt >= this.#endsAt;
    if (isOver) this.#spent = this.#refused = this.#permits = 0;
    const ahead = Math.min(this.#spent, Math.ceil(limit / CHUNKS_PER_WINDOW));
    const wanted = Math.max(this.#waiting - this.#permits, ahead);
    const draw = await this.#draw(wanted);
    if (draw === null) return this.#limitAlone(limit);
    // Counted from before the draw was sent: the second ends here a little early rather than late.
    const endsAt = startedAt + draw.endsInMs;
    const isSameSecond = !isOver && endsAt < this.#endsAt + WINDOW_MS / 2;
    this.#endsAt = endsAt;
    // Requests may have spent permits while the draw was on its way: add to what is left now.
    if (!isSameSecond) this.#permits = 0;
    this.#permits += Math.max(0, Math.min(wanted, limit - draw.drawnBefore));
    this.#drawn = draw.drawnBefore + wanted;
  }

  /** Without the counter this process admits up to the limit by itself for a second, and then asks again. */
  #limitAlone(limit: number): void {
    this.#endsAt = performance.now() + WINDOW_MS;
    this.#permits = Math.max(0, limit - this.#spent);
    this.#drawn = Infinity;
  }
}
