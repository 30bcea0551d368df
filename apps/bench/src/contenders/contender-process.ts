import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';

/** What a process of a contender is started with. */
export interface ProcessStart {
  /** As it is called in an error, e.g. "the API of peer-b". */
  name: string;
  /** Absent: the Node.js that runs the benchmark. */
  node?: string;
  flags?: readonly string[];
  args: readonly string[];
  /** All of its environment but PATH and the compile cache. */
  env?: Record<string, string>;
}

/** A process of a contender, with everything that it has written. */
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

  /** Resolves with what the first group of the pattern captures, when a line with it is written. */
  printed(pattern: RegExp): Promise<string> {
    return this.until(`${this.#name} prints ${pattern.source}`, () => pattern.exec(this.#output)?.[1]);
  }

  /** Resolves when the condition holds. Throws where the process ends before. */
  until<T>(what: string, condition: () => Promise<T | undefined> | T | undefined): Promise<T> {
    return waitUntil(what, () => {
      const { exitCode } = this.#child;
      if (exitCode !== null) throw new Error(`${this.#name} ended with ${exitCode}: ${this.#output}`);
      return condition();
    });
  }

  /** Waits for the end. Throws where it fails. */
  async finished(): Promise<void> {
    await this.#exited;
    if (this.#child.exitCode !== 0) throw new Error(`${this.#name} failed: ${this.#output.slice(-2_000)}`);
  }

  /** Stops it. Throws where it does not stop in order. */
  async end(): Promise<void> {
    this.#child.kill();
    await this.finished();
  }
}

/** Ends all of them, also where one fails. Throws what the first one that fails throws. */
export async function endAll(...processes: ContenderProcess[]): Promise<void> {
  const results = await Promise.allSettled(processes.map((one) => one.end()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
