import { cpus, getPriority } from 'node:os';

/** The machine is busy if other processes use more than this share of its CPUs. */
const BUSY = 0.5;
const MEASURED_EVERY_MS = 200;

/**
 * Returns a function that tells whether this process should slow down: it runs at low CPU priority, and other
 * processes keep the machine busy. The scheduler alone does not suffice, because Postgres and the SMTP server
 * work for a delivery at normal priority.
 */
export function createYielding(): () => boolean {
  let last = readTimes();
  let isBusy = false;
  return () => {
    if (performance.now() - last.at < MEASURED_EVERY_MS) return isBusy;
    const now = readTimes();
    isBusy = getPriority() > 0 && now.others - last.others > (now.all - last.all) * BUSY;
    last = now;
    return isBusy;
  };
}

/**
 * Returns the CPU milliseconds of the machine since it started: the total, and the part that other processes
 * have used.
 */
function readTimes() {
  const { user, system } = process.cpuUsage();
  const times = { at: performance.now(), all: 0, others: (user + system) / -1_000 };
  for (const { times: cpu } of cpus()) {
    const used = cpu.user + cpu.nice + cpu.sys + cpu.irq;
    times.all += used + cpu.idle;
    times.others += used;
  }
  return times;
}
