/**
 * Prints the running step and the remaining time on standard error: on one line in a terminal, otherwise one
 * line each.
 */
export class Progress {
  readonly #expectedSeconds: number;
  #doneSeconds = 0;

  constructor(expectedSeconds: number) {
    this.#expectedSeconds = expectedSeconds;
  }

  /** Prints the running step. */
  say(what: string): void {
    const left = Math.max(0, this.#expectedSeconds - this.#doneSeconds);
    const time = left >= 90 ? `${Math.round(left / 60)} min` : `${Math.round(left)} s`;
    const line = `${what} (about ${time} left)`;
    process.stderr.write(process.stderr.isTTY ? `\r\u001B[K${line}` : `${line}\n`);
  }

  /** Records the end of a step with this expected duration. */
  add(seconds: number): void {
    this.#doneSeconds += seconds;
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
  }
}
