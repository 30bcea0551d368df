import type { Database } from '@floodgate/database';
import type { Load, LoadResult } from '@floodgate/rehearsal/load/load';

/** The parts of a system, which are measured separately. */
export const PARTS = ['api', 'worker', 'postgres', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** Servers for one run: an empty, migrated database and an empty Redis. */
export interface Surroundings {
  /** Superuser's URL of the run's database, which has Floodgate's schema. */
  databaseUrl: string;
  redisUrl: string;
  db: Database;
  /** Additional V8 flags for its API process. */
  apiFlags?: readonly string[];
}

/** A partner's key and an event for a run. Workloads add tickets. */
export interface RunFixture {
  secretKey: string;
  eventRef: string;
  addTicket(settings: { capacity: number }): Promise<number>;
  /** Creates further events for the same caller, each with one ticket. */
  addEvents?(count: number, capacity: number): Promise<{ eventRef: string; ticketId: number }[]>;
}

/** Registrations in the database after a run, independent of the contender's answers. */
export interface Books {
  /** Registrations stored. */
  registered: number;
  /** Registrations that are not finalized yet. */
  pending: number;
  /** Tickets with more registrations than capacity, or whose number of taken seats differs from their registrations. */
  wrongTickets: number;
}

/** A database that is filled once and then copied. */
export interface Template {
  name: string;
  fill(databaseUrl: string): Promise<void>;
}

/** One way to build the service, or a ceiling to compare it with. */
export interface Contender {
  /** Short and stable name for results and the command line, e.g. "peer-a". */
  name: string;
  /** One line for a reader. */
  description: string;
  /** A database that is filled once and kept for all runs. Absent: every run has a new database. */
  database?: { name: string; fill(db: Database): Promise<void> };
  /** The template of its databases. Absent: a database with this checkout's schema. */
  template?: Template;
  /** Creates the fixture. Absent: this checkout's functions do it. */
  fixture?(db: Database): Promise<RunFixture>;
  /** Starts its processes. Resolves when they accept requests. */
  start(surroundings: Surroundings): Promise<RunningContender>;
}

/** Finalization of the registrations since a point in time, by Postgres's clock. */
export interface Finalization {
  /** Wait until finalization in milliseconds, at each requested quantile. */
  waitsMs: number[];
  /** When the last one was finalized, or null. */
  lastFinishedAt: Date | null;
}

export interface RunningContender {
  baseUrl: string;
  /** Process ids of the contender's own parts. */
  pids: Partial<Record<Part, number>>;
  /** Generates load. Absent: HTTP requests. */
  generate?(load: Load): Promise<LoadResult>;
  /** Absent if the contender stores nothing. */
  books?: {
    read(): Promise<Books>;
    /** Returns whether nothing is pending. Called often, so cheaper than reading the books. */
    isFinalized(): Promise<boolean>;
    /** `quantiles` from 0 to 1. */
    readFinalization(since: Date, quantiles: readonly number[]): Promise<Finalization>;
  };
  /** Returns the output of its API process so far. */
  apiOutput?(): string;
  stop(): Promise<void>;
}

/** Returns the contender with additional V8 flags for its API process. */
export function withFlags(contender: Contender, flags: readonly string[]): Contender {
  return {
    ...contender,
    start: (surroundings) => contender.start({ ...surroundings, apiFlags: flags }),
  };
}
