/** What the shared counter answers to a draw. */
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
 * One process's share of one partner's limit. Permits are drawn from a counter that all processes share, several at a
 * time, and end with the second that they were drawn of: what all of them admit in a second never exceeds the limit.
 * What is drawn ahead is never more than was spent before in the same second, so that a process with little of the
 * traffic does not sit on permits that another one could use.
 */
export class QuotaLease {
  readonly #draw: (wanted: number) => Promise<Draw | null>;
  #drawing: Promise<void> | null = null;
  #waiting = 0;
  #endsAt = -Infinity;
  #permits = 0;
  #spent = 0;
  /** Permits that were asked for in vain. */
  #refused = 0;
  /** What all processes together have drawn of this second, as far as is known. */
  #drawn = 0;

  /** `draw` asks the shared counter for permits. It must not reject: null says that the counter is out of reach. */
  constructor(draw: (wanted: number) => Promise<Draw | null>) {
    this.#draw = draw;
  }

  /**
   * Takes permits under a limit per second, all of them or none: at once where they are at hand, or not enough are left for
   * anybody.
   */
  async take(limit: number, permits = 1): Promise<Verdict> {
    for (;;) {
      const endsInMs = this.#endsAt - performance.now();
      // Drawn all the same, they would keep others from theirs.
      if (permits > limit) return { admitted: false, remaining: 0, endsInMs: Math.max(0, endsInMs) };
      if (endsInMs > 0 && this.#permits >= permits)
        return { admitted: true, remaining: this.#spend(limit, permits), endsInMs };
      const left = this.#permits + Math.max(0, limit - this.#drawn);
      if (endsInMs > 0 && left < permits)
        return {
          admitted: false,
          remaining: left,
          endsInMs,
          retryAfterSeconds: this.#refuse(limit, permits),
        };
      this.#waiting += permits;
      this.#drawing ??= this.#drawMore(limit).finally(() => (this.#drawing = null));
      await this.#drawing;
      this.#waiting -= permits;
    }
  }

  /** Returns how many permits all processes have left, as far as is known. */
  #spend(limit: number, permits: number): number {
    this.#permits -= permits;
    this.#spent += permits;
    const undrawn = Math.max(0, limit - this.#drawn);
    return Math.min(limit, this.#permits + undrawn);
  }

  /** Returns the seconds until as many may pass as were refused. */
  #refuse(limit: number, permits: number): number {
    this.#refused += permits;
    return Math.ceil(this.#refused / limit);
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
