import type { Database, PoolOptions, ShardReads } from '@floodgate/database';
import type { Producer } from '@floodgate/queue';
import type { Logger } from '@floodgate/service';
import type { Routes } from './server.ts';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';

/** The dependencies that the API passes to every capability. */
export interface ApiContext {
  log: Logger;
  /** For statements that only read. */
  reads: Database;
  /** Through this goes each read that needs the server of one shard. */
  shardReads: ShardReads;
  /** Opens a pool apart from the others. The API closes it, after the capability. `purpose` is shown in pg_stat_activity. */
  openPool(options: PoolOptions): Database;
  producer: Pick<Producer, 'enqueue'>;
  /** How long a request may wait for its answer. */
  answerWithinMs: number;
}

/** An open capability of the API's process. */
export interface OpenCapability {
  /** Adds its routes, below /api/v1, or hooks that the requests to all capabilities pass. */
  routes?(api: Routes): void;
  /** Adds routes that no key is needed for, at paths of their own. They say the same to everybody. */
  publicRoutes?(app: Routes): void;
  /** Resolves when what was accepted is done. Called when no further request can come, and where the start failed. */
  close?(): Promise<void>;
}

/** The face that a capability shows to the API. */
export interface ApiCapability<Settings extends TProperties = TProperties> {
  settings: Settings;
  open(context: ApiContext, settings: Static<TObject<Settings>>): OpenCapability | Promise<OpenCapability>;
}

/** Returns the face as it is, with the types of its settings inferred. */
export function defineApi<Settings extends TProperties>(face: ApiCapability<Settings>): ApiCapability {
  return face;
}

/** The caller. Set by the one hook that authenticates, on every route behind it. That hook's package says what is known of a caller. */
export type Principal = FastifyRequest['principal'];
