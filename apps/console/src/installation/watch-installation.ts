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

/** The console's knowledge of the installation. */
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
  const parts = { processes: [] as Finding[], doors: [] as Finding[] };
  let processes: Processes | undefined;
  const strangers = measureStrangers();
  let failedReads = 0;
  let answersSince = clock.now();
  const isDown = () => failedReads >= FAILED_READS;
  const waiting = watchWork(db, clock);

  const state = (): InstallationState => ({
    findings: isDown()
      ? [found('postgresDown', {})]
      : [...parts.processes, ...waiting.findings(), ...parts.doors],
    processes,
    work: waiting.work(),
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
  const readDoors = watchDoors(db, () => shardIds(db), clock);
  async function lookAtDoors() {
    if (!isDown()) parts.doors = findingsOfDoors(await readDoors());
    return 'done' as const;
  }
  const stop = repeatAll(
    [
      [lookAtProcesses, PROCESSES_EVERY_MS],
      [() => waiting.look(isDown()), WATCHED_EVERY_MS],
      [lookAtDoors, DOORS_EVERY_MS],
    ],
    log,
    clock,
  );
  return {
    state,
    watch: waiting.watch,
    stop,
  };
}

/** Reads what waits: every five seconds, and every second while somebody watches. */
function watchWork(db: Database, clock: typeof systemClock) {
  let findings: Finding[] = [];
  let work: Work | undefined;
  let watchers = 0;
  let readAt = -Infinity;
  return {
    findings: () => findings,
    work: () => work,
    watch: () => {
      watchers += 1;
      return () => void (watchers -= 1);
    },
    look: async (isDown: boolean) => {
      const isDue = watchers > 0 || clock.now() - readAt >= WORK_EVERY_MS;
      if (!isDue || isDown) return 'done' as const;
      readAt = clock.now();
      const read = await readWork(db).catch(() => undefined);
      work = read ?? work;
      findings = read ? findingsOfWork(read) : [found('figuresUnknown', {})];
      return 'done' as const;
    },
  };
}

/** Repeats each look with its pause. Returns the function that stops them all. */
function repeatAll(
  looks: readonly (readonly [look: () => Promise<'done'>, everyMs: number])[],
  log: Logger,
  clock: typeof systemClock,
) {
  const warn = throttledWarn('the console cannot read the state of the installation', clock);
  const tasks = looks.map(([look, everyMs]) => repeat(look, everyMs, (err) => warn(log, { err }), clock));
  return async () => void (await Promise.all(tasks.map((task) => task.stop())));
}
