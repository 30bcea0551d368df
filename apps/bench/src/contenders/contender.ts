import type { Database } from '@floodgate/database';
import type { Load, LoadResult } from '../load/load.ts';

/** The parts of a system whose use of the machine is told apart. */
export const PARTS = ['api', 'worker', 'postgres', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** What a contender is given for one run: an empty, migrated database and an empty Redis. */
export interface Surroundings {
  /** Superuser's URL of the run's own database, which has Floodgate's schema. */
  databaseUrl: string;
  redisUrl: string;
  db: Database;
  /** V8 flags for its API process, after its own. */
  apiFlags?: readonly string[];
}

/** Who registers in a run: a partner's key and an event, to which tickets are added. */
export interface RunFixture {
  secretKey: string;
  eventRef: string;
  addTicket(settings: { capacity: number }): Promise<number>;
  /** Creates further events for the same caller, each with one ticket. */
  addEvents?(count: number, capacity: number): Promise<{ eventRef: string; ticketId: number }[]>;
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

/** An empty database that is filled once and then copied. */
export interface Template {
  name: string;
  fill(databaseUrl: string): Promise<void>;
}

/** One way to build the service, or a ceiling to compare it with. */
export interface Contender {
  /** Short and stable, as it stands in results and on the command line, e.g. "peer-a". */
  name: string;
  /** One line for a reader. */
  description: string;
  /** Absent: every run has a database of its own. Otherwise one that is kept, and was filled when it was made. */
  database?: { name: string; fill(db: Database): Promise<void> };
  /** Absent: its databases have this checkout's schema. Otherwise they are copies of this one, which it has filled. */
  template?: Template;
  /** Absent: this checkout's functions make it. */
  fixture?(db: Database): Promise<RunFixture>;
  /** Starts its processes; resolves when they are ready for requests. */
  start(surroundings: Surroundings): Promise<RunningContender>;
}

/** What became of the registrations that were stored at or after a point in time, by the clock of Postgres. */
export interface Finalization {
  /** How long they waited to be finalized, in milliseconds, at each of the quantiles asked for. */
  waitsMs: number[];
  /** When the last of them was finalized; null where none was. */
  lastFinishedAt: Date | null;
}

export interface RunningContender {
  baseUrl: string;
  /** Process ids of the parts that belong to the contender alone. */
  pids: Partial<Record<Part, number>>;
  /** Generates load in a way of its own; absent: HTTP requests. */
  generate?(load: Load): Promise<LoadResult>;
  /** Absent where nothing is stored. */
  books?: {
    read(): Promise<Books>;
    /** Whether nothing is pending; asked often, so cheaper than reading everything. */
    isFinalized(): Promise<boolean>;
    /** `quantiles` from 0 to 1. */
    readFinalization(since: Date, quantiles: readonly number[]): Promise<Finalization>;
  };
  /** What its API process has written so far. */
  apiOutput?(): string;
  stop(): Promise<void>;
}

/** The same with V8 flags added to those of its API process. */
export function withFlags(contender: Contender, flags: readonly string[]): Contender {
  return {
    ...contender,
    start: (surroundings) => contender.start({ ...surroundings, apiFlags: flags }),
  };
}
