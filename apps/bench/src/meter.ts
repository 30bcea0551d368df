import { PARTS, type Part } from './contenders/contender.ts';
import { cpuMicrosOfTree, residentMiB, residentMiBOfTree } from '@floodgate/test/harness/process-usage.ts';

type Figures = Partial<Record<Part, number>>;

/** Reads the resource usage of a run's processes. */
export class Meter {
  readonly #pids: Partial<Record<Part, number>>;

  constructor(pids: Partial<Record<Part, number>>) {
    this.#pids = pids;
  }

  cpuMicros(): Promise<Figures> {
    return this.#read(cpuMicrosOfTree);
  }

  residentMiB(): Promise<Figures> {
    return this.#read((pid, part) => (part === 'postgres' ? residentMiBOfTree(pid) : residentMiB(pid)));
  }

  async #read(read: (pid: number, part: Part) => Promise<number | undefined>): Promise<Figures> {
    const figures: Figures = {};
    for (const part of PARTS) {
      const pid = this.#pids[part];
      const figure = pid === undefined ? undefined : await read(pid, part);
      if (figure !== undefined) figures[part] = figure;
    }
    return figures;
  }
}

/** Returns the usage per answer of each part and in total. */
export function perAnswer(
  before: Figures,
  after: Figures,
  answers: number,
): Partial<Record<Part | 'total', number>> {
  const used: Partial<Record<Part | 'total', number>> = {};
  for (const part of PARTS) {
    const [from, to] = [before[part], after[part]];
    if (from !== undefined && to !== undefined) used[part] = (to - from) / answers;
  }
  const figures = Object.values(used);
  return figures.length > 0 ? { ...used, total: figures.reduce((sum, figure) => sum + figure, 0) } : {};
}
