import { databaseSettings, type Database } from '@floodgate/database';
import { processSettings, type Logger } from '@floodgate/service';
import { queueSettings } from '@floodgate/queue';
import type { Registrations } from '@floodgate/registrations';
import { Type, type Static } from '@sinclair/typebox';
import type { SeatOutcome, SeatRequest } from './reserve-seat.ts';

export const PEER_LETTERS = ['a', 'b', 'c', 'd', 'e'] as const;
export type PeerLetter = (typeof PEER_LETTERS)[number];

/** What a peer's processes read from their environment. */
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
  /** A pool of the size that the peer asked for; its statements are prepared by name. */
  db: Database;
}

/** A desk or a worker that runs. */
export interface Closeable {
  close(): Promise<void>;
}

/** Takes a seat and sees to it that a worker confirms it. */
export interface Desk extends Closeable {
  reserve(seat: SeatRequest): Promise<SeatOutcome>;
}

/** One way to build the service, as a good team would with the libraries it is made of. */
export interface Peer {
  /** Connections to Postgres, beside those of the queue itself. */
  connections: { api: number; worker: number };
  /** Prepares what the queue keeps in Postgres. */
  prepare?(databaseUrl: string): Promise<void>;
  openDesk(dependencies: PeerDependencies): Promise<Desk>;
  startWorker(dependencies: PeerDependencies): Promise<Closeable>;
}

export type Register = Registrations['submit'];

/** Only the modules of the one peer that runs are loaded: the others' libraries cost it no memory. */
export async function loadPeer(letter: string): Promise<Peer> {
  const { peer } = (await import(`./peer-${letter}.ts`)) as { peer: Peer };
  return peer;
}
