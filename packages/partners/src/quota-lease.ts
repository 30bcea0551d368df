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
  /** What all processes together have drawn of this second, as far as is known. */
  #drawn = 0;

  /** `draw` asks the shared counter for permits. It must not reject: null says that the counter is out of reach. */
  constructor(draw: (wanted: number) => Promise<Draw | null>) {
    this.#draw = draw;
  }

  /** Takes a permit under a limit per second, at once where one is at hand or none is left for anybody. */
  async take(limit: number): Promise<Verdict> {
    for (;;) {
      const endsInMs = this.#endsAt - performance.now();
      if (endsInMs > 0 && this.#permits > 0)
        return { admitted: true, remaining: this.#spend(limit), endsInMs };
      if (endsInMs > 0 && this.#drawn >= limit) return { admitted: false, remaining: 0, endsInMs };
      this.#waiting += 1;
      this.#drawing ??= this.#drawMore(limit).finally(() => (this.#drawing = null));
      await this.#drawing;
      this.#waiting -= 1;
    }
  }

  /** Returns how many permits all processes have left, as far as is known. */
  #spend(limit: number): number {
    this.#permits -= 1;
    this.#spent += 1;
    const undrawn = Math.max(0, limit - this.#drawn);
    return Math.min(limit, this.#permits + undrawn);
  }

  async #drawMore(limit: number): Promise<void> {
    const startedAt = performance.now();
    if (startedAt >= this.#endsAt) this.#spent = 0;
    const ahead = Math.min(this.#spent, Math.ceil(limit / CHUNKS_PER_WINDOW));
    const wanted = Math.max(this.#waiting, ahead);
    const draw = await this.#draw(wanted);
    if (draw === null) return this.#limitAlone(limit);
    // Counted from before the draw was sent: the second ends here a little early rather than late.
    this.#endsAt = startedAt + draw.endsInMs;
    this.#permits = Math.max(0, Math.min(wanted, limit - draw.drawnBefore));
    this.#drawn = draw.drawnBefore + wanted;
  }

  /** Without the counter this process admits up to the limit by itself for a second, and then asks again. */
  #limitAlone(limit: number): void {
    this.#endsAt = performance.now() + WINDOW_MS;
    this.#permits = Math.max(0, limit - this.#spent);
    this.#drawn = Infinity;
  }
}
