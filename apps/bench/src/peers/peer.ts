import { databaseSettings, type Database } from '@floodgate/database';
import { queueSettings } from '@floodgate/queue';
import { processSettings, type Logger } from '@floodgate/service';
import { Type, type Static } from '@sinclair/typebox';
import type { JobsOptions, WorkerOptions } from 'bullmq';
import {
  reserveInOneStatement,
  reserveInTransaction,
  type SeatOutcome,
  type SeatRequest,
} from './reserve-seat.ts';

/** Settings of a peer's processes. */
export const PeerConfig = Type.Object({
  ...databaseSettings,
  QUEUE_URL: queueSettings.QUEUE_URL,
  ...processSettings,
  PEER: Type.Union([Type.Literal('naive'), Type.Literal('bullmq')]),
});
export type PeerConfig = Static<typeof PeerConfig>;
export type PeerName = PeerConfig['PEER'];

/** A design of the service that a team would build first. Both add a BullMQ job for each registration. */
export interface Peer {
  /** Connections of the API to Postgres. */
  connections: number;
  reserve(db: Database, seat: SeatRequest): Promise<SeatOutcome>;
}

// Tried alternately on the same machine: 2, 4, 8 and 16 connections on one hot ticket, and 8, 16 and 32 on
// fifty tickets. With transactions 8 are best: with fewer, requests wait for the five round trips of others,
// and more only wait for the ticket's lock.
export const PEERS: Record<PeerName, Peer> = {
  naive: { connections: 8, reserve: reserveInTransaction },
  bullmq: { connections: 16, reserve: reserveInOneStatement },
};

/** Connections of the worker. With 3 it was slower. */
export const WORKER_CONNECTIONS = 8;
/** Tried: 16, 50 and 100 jobs at once. 16 is slightly slower. 100 is not faster, and jobs wait longer. */
export const CONCURRENCY = 50;
export const QUEUE_NAME = 'confirm';

/** Payload of a job. The data is in Postgres. */
export interface ConfirmJob {
  serial: number;
}

/** As in Floodgate: jobs are retried, and removed when done. */
export const JOB_OPTIONS: JobsOptions = {
  attempts: 10,
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { age: 30 * 24 * 3600, count: 100_000 },
};

/** Other workers take over the jobs of a dead worker after the same time as in Floodgate. */
export const WORKER_OPTIONS: Pick<WorkerOptions, 'lockDuration' | 'stalledInterval'> = {
  lockDuration: 15_000,
  stalledInterval: 15_000,
};

export const logErrors =
  (log: Logger) =>
  (err: Error): void =>
    log.warn({ err }, 'queue connection');
