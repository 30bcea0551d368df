import { readdir, readFile } from 'node:fs/promises';

/** What Linux tells of processes in /proc. On systems without it every figure is absent. */

/** Linux counts CPU time in ticks of this length (USER_HZ is 100 on every architecture that Node.js runs on). */
const TICK_MICROS = 10_000;

interface ProcessStat {
  parent: number;
  /** Own CPU time, and that of children that have ended and were waited for. */
  ownMicros: number;
  endedChildrenMicros: number;
}

/** CPU time that a process and its living children have used since they began, in microseconds. */
export async function cpuMicrosOfTree(pid: number): Promise<number | undefined> {
  const root = await readStat(pid);
  if (!root) return undefined;
  const children = await Promise.all((await childrenOf(pid)).map(readStat));
  const living = children.reduce((sum, stat) => sum + (stat?.ownMicros ?? 0), 0);
  return root.ownMicros + root.endedChildrenMicros + living;
}

/** The same with all processes that it has started, at any depth. Throws if the process has ended. */
export async function cpuMicrosOfDescendants(pid: number): Promise<number> {
  const stats = await readAllStats();
  if (!stats.has(pid)) throw new Error(`process ${pid} has ended`);
  const isBelow = (one: number): boolean =>
    one === pid || (stats.has(one) && isBelow(stats.get(one)!.parent));
  return [...stats].reduce(
    (sum, [one, stat]) => (isBelow(one) ? sum + stat.ownMicros + stat.endedChildrenMicros : sum),
    0,
  );
}

/** The process that has started this one; undefined where there is none of this id. */
export const parentOf = async (pid: number): Promise<number | undefined> => (await readStat(pid))?.parent;

/** Resident memory of a process in MiB. */
export async function residentMiB(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return kibibytes(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1]);
}

/** The same for a process and its children, each page that they share counted once (Linux: proportional set size). */
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
  // After the name, which stands in brackets and may hold anything: state, parent, … utime is the 12th.
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
