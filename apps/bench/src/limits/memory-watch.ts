import { residentMiB } from '@floodgate/test/harness/process-usage.ts';

const SAMPLE_MS = 250;

/** Samples the resident memory of a process until `stop`. NaN if the system does not report it. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #samples: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => void this.#sample(), SAMPLE_MS);
  }

  /** Returns the first, highest and last sample in MiB. */
  async stop(): Promise<{ before: number; max: number; after: number }> {
    clearInterval(this.#timer);
    await this.#sample();
    return { before: this.#samples[0]!, max: Math.max(...this.#samples), after: this.#samples.at(-1)! };
  }

  async #sample(): Promise<void> {
    this.#samples.push((await residentMiB(this.#pid)) ?? Number.NaN);
  }
}
