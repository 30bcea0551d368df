import { readdir, readFile } from 'node:fs/promises';

/** Figures of processes from /proc on Linux. Other systems have none of them. */

/** Linux counts CPU time in ticks of this length (USER_HZ is 100 on all architectures of Node.js). */
const TICK_MICROS = 10_000;

interface ProcessStat {
  parent: number;
  /** CPU time of the process, and of ended children that it has waited for. */
  ownMicros: number;
  endedChildrenMicros: number;
}

/** Returns the CPU time of a process and its live children since their start, in microseconds. */
export async function cpuMicrosOfTree(pid: number): Promise<number | undefined> {
  const root = await readStat(pid);
  if (!root) return undefined;
  const children = await Promise.all((await childrenOf(pid)).map(readStat));
  const living = children.reduce((sum, stat) => sum + (stat?.ownMicros ?? 0), 0);
  return root.ownMicros + root.endedChildrenMicros + living;
}

/**
 * Returns the CPU time of a process and all its descendants, or of those whose command line contains
 * `program`. Throws if the process has ended.
 */
export async function cpuMicrosOfDescendants(pid: number, program = ''): Promise<number> {
  const stats = await readAllStats();
  const commands = new Map(
    await Promise.all(
      [...stats.keys()].map(
        async (one) => [one, await readFile(`/proc/${one}/cmdline`, 'utf8').catch(() => '')] as const,
      ),
    ),
  );
  if (!stats.has(pid)) throw new Error(`process ${pid} has ended`);
  const isBelow = (one: number): boolean =>
    one === pid || (stats.has(one) && isBelow(stats.get(one)!.parent));
  return [...stats].reduce(
    (sum, [one, stat]) =>
      isBelow(one) && commands.get(one)!.includes(program)
        ? sum + stat.ownMicros + stat.endedChildrenMicros
        : sum,
    0,
  );
}

/** Returns the parent of a process, or undefined without a process of this id. */
export const parentOf = async (pid: number): Promise<number | undefined> => (await readStat(pid))?.parent;

/** Returns the resident memory of a process in MiB. */
export async function residentMiB(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return kibibytes(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1]);
}

/** Returns the most resident memory that a process has had so far, in MiB. */
export async function peakMiB(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return kibibytes(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1]);
}

/** Returns the memory of a process and its children in MiB. Shared pages count once (Linux: proportional set size). */
export async function residentMiBOfTree(pid: number): Promise<number | undefined> {
  const sizes = await Promise.all([pid, ...(await childrenOf(pid))].map(proportionalMiB));
  return sizes[0] === undefined ? undefined : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

async function childrenOf(pid: number): Promise<number[]> {
  return [...(await readAllStats())].filter(([, { parent }]) => parent === pid).map(([child]) => child);
}

async function readAllStats(): Promise<Map<number, ProcessStat>> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(async (pid) => [pid, await readStat(pid)] as const));
  return new Map(stats.flatMap(([pid, stat]) => (stat ? [[pid, stat] as const] : [])));
}

async function readStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // Fields after the name, which is in brackets and may contain anything: state, parent, … utime is the 12th.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [1, 11, 12, 13, 14].map(
    (index) => fields[index],
  );
  return {
    parent,
    ownMicros: (user + system) * TICK_MICROS,
    endedChildrenMicros: (childUser + childSystem) * TICK_MICROS,
  };
}

async function proportionalMiB(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return kibibytes(/^Pss:\s+(\d+) kB/m.exec(text)?.[1]);
}

const kibibytes = (text: string | undefined) => (text === undefined ? undefined : Number(text) / 1024);
