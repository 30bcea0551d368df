import { cpus, getPriority } from 'node:os';

/** The machine is busy when others than this process use more than this part of its CPUs. */
const BUSY = 0.5;
const MEASURED_EVERY_MS = 200;

interface CpuTimes {
  at: number;
  /** Milliseconds of all CPUs, since the machine started. */
  all: number;
  idle: number;
  own: number;
}

/**
 * Returns whether this process should leave the machine to others: it runs at low CPU priority, and others are busy. The scheduler
 * alone does not suffice: what a delivery costs in Postgres and in the SMTP server has no low priority.
 */
export function createYielding(): () => boolean {
  let last = readTimes();
  let isBusy = false;
  return () => {
    if (performance.now() - last.at < MEASURED_EVERY_MS) return isBusy;
    const now = readTimes();
    const all = now.all - last.all;
    const others = all - (now.idle - last.idle) - (now.own - last.own);
    isBusy = getPriority() > 0 && others > all * BUSY;
    last = now;
    return isBusy;
  };
}

function readTimes(): CpuTimes {
  const { user, system } = process.cpuUsage();
  const times: CpuTimes = { at: performance.now(), all: 0, idle: 0, own: (user + system) / 1_000 };
  for (const { times: cpu } of cpus()) {
    times.all += cpu.user + cpu.nice + cpu.sys + cpu.irq + cpu.idle;
    times.idle += cpu.idle;
  }
  return times;
}
