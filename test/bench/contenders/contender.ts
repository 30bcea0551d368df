import type { Database } from '@floodgate/database';

/** The parts of a system whose use of the machine is told apart. */
export type Part = 'api' | 'worker' | 'postgres' | 'redis';

/** What a contender is given for one run: an empty, migrated database and an empty Redis. */
export interface Surroundings {
  /** Superuser's URL of the run's own database, which has Floodgate's schema. */
  databaseUrl: string;
  redisUrl: string;
  db: Database;
}

/** What a run has stored, told by the database and not by the contender's answers. */
export interface Books {
  /** Registrations stored. */
  registered: number;
  /** Of those, how many are not finalized yet. */
  pending: number;
  /** Tickets that have more registrations than capacity, or whose count of taken seats is not that of its registrations. */
  wrongTickets: number;
}

/** One way to build the service, or a ceiling to compare it with. */
export interface Contender {
  /** Short and stable, as it stands in results and on the command line, e.g. "peer-a". */
  name: string;
  /** One line for a reader. */
  description: string;
  /** Starts its processes; resolves when they are ready for requests. */
  start(surroundings: Surroundings): Promise<RunningContender>;
}

export interface RunningContender {
  baseUrl: string;
  /** Process ids of the parts that belong to the contender alone. */
  pids: Partial<Record<Part, number>>;
  readBooks(): Promise<Books>;
  /**
   * How long registrations stored at or after `since` waited to be finalized, in milliseconds, at each of `quantiles`
   * (0–1), by the clock of Postgres.
   */
  readWaits(since: Date, quantiles: readonly number[]): Promise<number[]>;
  stop(): Promise<void>;
}
