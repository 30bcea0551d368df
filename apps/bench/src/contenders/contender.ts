import type { Database } from '@floodgate/database';
import type { Load, LoadResult } from '@floodgate/rehearsal/load/load';
import type { StoredEvent } from '../stored/many-events.ts';

/** The parts of a system, which are measured separately. */
export const PARTS = ['api', 'worker', 'postgres', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** Servers for one run: a migrated database of its own, and an empty Redis. */
export interface Surroundings {
  /** Superuser's URL of the database. */
  databaseUrl: string;
  redisUrl: string;
  db: Database;
}

/** A partner's key and an event for a run. Workloads add tickets. */
export interface RunFixture {
  secretKey: string;
  eventRef: string;
  addTicket(settings: { capacity: number }): Promise<number>;
  /** Creates further events for the same partner, each with one ticket. */
  addEvents(count: number, capacity: number): Promise<StoredEvent[]>;
}

/** Registrations in the database, independent of the contender's answers. */
export interface Books {
  /** Registrations stored. */
  registered: number;
  /** Registrations that are not finalized yet. */
  pending: number;
  /**
   * Tickets with more registrations than capacity, or whose number of taken seats differs from their
   * registrations.
   */
  wrongTickets: number;
}

/** Finalization of the registrations since a point in time, by Postgres's clock. */
export interface Finalization {
  /** Wait until finalization in milliseconds, the 99th percentile. Undefined if nothing is finalized. */
  p99Ms: number | undefined;
  /** When the last one was finalized, or null. */
  lastFinishedAt: Date | null;
}

/** How the benchmark reads what a contender has stored. */
export interface BookKeeper {
  read(): Promise<Books>;
  /** Returns whether nothing is pending. Called often, so cheaper than reading the books. */
  isFinalized(): Promise<boolean>;
  readFinalization(since: Date): Promise<Finalization>;
}

/** A database that is filled once and then copied. */
export interface Template {
  name: string;
  fill(databaseUrl: string): Promise<void>;
}

/** A database that is filled once and kept for all runs. */
export interface KeptDatabase {
  name: string;
  fill(db: Database): Promise<void>;
}

/** One way to build the service, or a ceiling to compare it with. */
export interface Contender {
  /** Short and stable name. */
  name: string;
  /** Absent: every run has a new database. */
  database?: KeptDatabase;
  /** The template of its databases. Absent: a database with this checkout's schema. */
  template?: Template;
  /** Creates the fixture. Absent: this checkout's functions do it. */
  fixture?(db: Database): Promise<RunFixture>;
  /** Starts its processes. Resolves when they accept requests. */
  start(surroundings: Surroundings): Promise<RunningContender>;
}

export interface RunningContender {
  baseUrl: string;
  /** Process ids of the contender's own parts. */
  pids: Partial<Record<Part, number>>;
  /** Generates load in place of HTTP requests. */
  generate?(load: Load): Promise<LoadResult>;
  /** Absent if the contender stores nothing. */
  books?: BookKeeper;
  stop(): Promise<void>;
}
