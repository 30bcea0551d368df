import { shardIds, type Database } from '@floodgate/database';
import { findingsOfDoors, watchDoors } from '@floodgate/door/console';
import {
  found,
  findingsOfProcesses,
  readProcesses,
  type Finding,
  type Processes,
} from '@floodgate/operators';
import { findingsOfWork, readWork, type Work } from '@floodgate/registrations/console';
import { repeat, systemClock, throttledWarn, type Logger } from '@floodgate/service';
import { measureStrangers } from './strangers.ts';

const PROCESSES_EVERY_MS = 1_000;
const WORK_EVERY_MS = 5_000;
const DOORS_EVERY_MS = 15_000;
/** While somebody watches a launch. */
const WATCHED_EVERY_MS = 1_000;
/** One read can fail on a busy machine. */
const FAILED_READS = 2;
/** After this time, every process has reported again to a Postgres that was away, or to a new installation. */
const SETTLED_AFTER_MS = 8_000;

/** What the console knows about the installation. */
export interface InstallationState {
  findings: readonly Finding[];
  /** Undefined: not read yet. */
  processes: Processes | undefined;
  work: Work | undefined;
  /** Refused requests per second that belong to no known event. */
  strangers: number;
}

/** Reads the state of the installation, for all viewers of this process. */
export interface Installation {
  /** Returns the last state. Reads nothing. */
  state(): InstallationState;
  /** Reads what waits every second until the returned function is called. */
  watch(): () => void;
  stop(): Promise<void>;
}

/**
 * Reads the state of the installation until it is stopped. `db`: a pool with a connection of its own, so that
 * no page delays it. `afterProcesses` runs after each read of the processes.
 */
export function watchInstallation(
  db: Database,
  log: Logger,
  afterProcesses: (state: InstallationState) => Promise<void>,
  clock = systemClock,
): Installation {
  const parts = { processes: [] as Finding[], work: [] as Finding[], doors: [] as Finding[] };
  let processes: Processes | undefined;
  let work: Work | undefined;
  const strangers = measureStrangers();
  let failedReads = 0;
  let answersSince = clock.now();
  let watchers = 0;
  let workReadAt = -Infinity;
  const isDown = () => failedReads >= FAILED_READS;

  const state = (): InstallationState => ({
    findings: isDown() ? [found('postgresDown', {})] : [...parts.processes, ...parts.work, ...parts.doors],
    processes,
    work,
    strangers: strangers.perSecond(),
  });
  async function lookAtProcesses() {
    try {
      processes = await readProcesses(db);
    } catch (error) {
      failedReads += 1;
      throw error;
    }
    if (isDown()) answersSince = clock.now();
    failedReads = 0;
    strangers.add(processes.running, clock.now());
    const isSettled = clock.now() - answersSince >= SETTLED_AFTER_MS;
    parts.processes = findingsOfProcesses(processes).filter(({ code }) => isSettled || code === 'queueDown');
    await afterProcesses(state());
    return 'done' as const;
  }
  async function lookAtWork() {
    const isDue = clock.now() - workReadAt >= WORK_EVERY_MS;
    if ((watchers === 0 && !isDue) || isDown()) return 'done' as const;
    workReadAt = clock.now();
    const read = await readWork(db).catch(() => undefined);
    work = read ?? work;
    parts.work = read ? findingsOfWork(read) : [found('figuresUnknown', {})];
    return 'done' as const;
  }
  const readDoors = watchDoors(db, () => shardIds(db), clock);
  async function lookAtDoors() {
    if (!isDown()) parts.doors = findingsOfDoors(await readDoors());
    return 'done' as const;
  }
  const warn = throttledWarn('the console cannot read the state of the installation', clock);
  const onError = (err: Error) => warn(log, { err });
  const tasks = [
    repeat(lookAtProcesses, PROCESSES_EVERY_MS, onError, clock),
    repeat(lookAtWork, WATCHED_EVERY_MS, onError, clock),
    repeat(lookAtDoors, DOORS_EVERY_MS, onError, clock),
  ];
  return {
    state,
    watch: () => {
      watchers += 1;
      return () => void (watchers -= 1);
    },
    stop: async () => void (await Promise.all(tasks.map((task) => task.stop()))),
  };
}
