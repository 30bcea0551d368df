import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';

/** How to start a process of a contender. */
export interface ProcessStart {
  /** Name in error messages, e.g. "the API of naive". */
  name: string;
  /** By default the Node.js of the benchmark. */
  node?: string;
  flags?: readonly string[];
  args: readonly string[];
  /** Its environment, except PATH and the compile cache. */
  env?: Record<string, string>;
}

/** A process of a contender, with its output. */
export class ContenderProcess {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor({ name, node = process.execPath, flags = [], args, env = {} }: ProcessStart) {
    this.#name = name;
    this.#child = spawn(node, [...flags, ...args], {
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk) => (this.#output += String(chunk)));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Standard output and error together. */
  get output(): string {
    return this.#output;
  }

  /** Resolves with the pattern's first group when the output matches. */
  printed(pattern: RegExp): Promise<string> {
    return this.until(`${this.#name} prints ${pattern.source}`, () => pattern.exec(this.#output)?.[1]);
  }

  /** Resolves when the condition is true. Throws if the process ends first. */
  until<T>(what: string, condition: () => Promise<T | undefined> | T | undefined): Promise<T> {
    return waitUntil(what, () => {
      const { exitCode } = this.#child;
      if (exitCode !== null) throw new Error(`${this.#name} ended with ${exitCode}: ${this.#output}`);
      return condition();
    });
  }

  /** Waits for the end. Throws if the process fails. */
  async finished(): Promise<void> {
    await this.#exited;
    if (this.#child.exitCode !== 0) throw new Error(`${this.#name} failed: ${this.#output.slice(-2_000)}`);
  }

  /** Stops the process. Throws if it does not stop cleanly. */
  async end(): Promise<void> {
    this.#child.kill();
    await this.finished();
  }
}

/** Ends all processes, even if one fails. Throws the first error. */
export async function endAll(...processes: ContenderProcess[]): Promise<void> {
  const results = await Promise.allSettled(processes.map((one) => one.end()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
