import { cpuMicrosOfTree, residentMiB, residentMiBOfTree } from '@floodgate/test/harness/process-usage.ts';
import { PARTS, type Part } from './contenders/contender.ts';

export type ByPart = Partial<Record<Part, number>>;

/** The processes of each part. */
export type Pids = Partial<Record<Part, number>>;

/** Reads the resource usage of a run's processes. Systems without /proc report nothing. */
export class Meter {
  readonly #pids: Pids;

  constructor(pids: Pids) {
    this.#pids = pids;
  }

  cpuMicros(): Promise<ByPart> {
    return this.#read(cpuMicrosOfTree);
  }

  residentMiB(): Promise<ByPart> {
    return this.#read((pid, part) => (part === 'postgres' ? residentMiBOfTree(pid) : residentMiB(pid)));
  }

  async #read(read: (pid: number, part: Part) => Promise<number | undefined>): Promise<ByPart> {
    const figures: ByPart = {};
    for (const part of PARTS) {
      const pid = this.#pids[part];
      const figure = pid === undefined ? undefined : await read(pid, part);
      if (figure !== undefined) figures[part] = figure;
    }
    return figures;
  }
}

/** Returns the usage of each part between two readings. */
export function usedBetween(before: ByPart, after: ByPart): ByPart {
  const used: ByPart = {};
  for (const part of PARTS) {
    const [from, to] = [before[part], after[part]];
    if (from !== undefined && to !== undefined) used[part] = to - from;
  }
  return used;
}

/** Returns the sum of the parts, or undefined if none is known. */
export function sumOfParts(parts: ByPart): number | undefined {
  const known = Object.values(parts);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}
