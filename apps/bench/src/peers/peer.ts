import { databaseSettings, type Database } from '@floodgate/database';
import { processSettings, type Logger } from '@floodgate/service';
import { queueSettings } from '@floodgate/queue';
import type { Registrations } from '@floodgate/registrations';
import { Type, type Static } from '@sinclair/typebox';
import type { SeatOutcome, SeatRequest } from './reserve-seat.ts';

export const PEER_LETTERS = ['a', 'b', 'c', 'd', 'e'] as const;
export type PeerLetter = (typeof PEER_LETTERS)[number];

/** Settings of a peer's processes. */
export const PeerConfig = Type.Object({
  ...databaseSettings,
  QUEUE_URL: queueSettings.QUEUE_URL,
  ...processSettings,
  PEER: Type.Union(PEER_LETTERS.map((letter) => Type.Literal(letter))),
});
export type PeerConfig = Static<typeof PeerConfig>;

export interface PeerDependencies {
  config: PeerConfig;
  log: Logger;
  /** A pool of the peer's size. Its statements are prepared by name. */
  db: Database;
}

/** A running desk or worker. */
export interface Closeable {
  close(): Promise<void>;
}

/** Reserves a seat and lets a worker confirm it. */
export interface Desk extends Closeable {
  reserve(seat: SeatRequest): Promise<SeatOutcome>;
}

/** A design of the service that a good team would build with these libraries. */
export interface Peer {
  /** Connections to Postgres, in addition to those of the queue. */
  connections: { api: number; worker: number };
  /** Prepares the queue's schema in Postgres. */
  prepare?(databaseUrl: string): Promise<void>;
  openDesk(dependencies: PeerDependencies): Promise<Desk>;
  startWorker(dependencies: PeerDependencies): Promise<Closeable>;
}

export type Register = Registrations['submit'];

/** Loads only the modules of one peer, so that the libraries of others use no memory. */
export async function loadPeer(letter: string): Promise<Peer> {
  const { peer } = (await import(`./peer-${letter}.ts`)) as { peer: Peer };
  return peer;
}
