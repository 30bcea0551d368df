import type {
  Database,
  DuplicatePolicy,
  DuplicateScope,
  Mode,
  PoolOptions,
  ShardReads,
} from '@floodgate/database';
import type { JobDefinition, Producer } from '@floodgate/queue';
import type { Logger } from '@floodgate/service';
import type { Routes } from './server.ts';
import type { Static, TObject, TProperties } from '@sinclair/typebox';

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
  /** Adds hooks that the requests to all capabilities pass. */
  guard?(api: Routes): void;
  /** Adds its routes, below /api/v1. */
  routes?(api: Routes): void;
  /** Adds routes that no key is needed for, at paths of their own. They say the same to everybody. */
  publicRoutes?(app: Routes): void;
  /** Resolves when what was accepted is done. Called when no further request can come, and where the start failed. */
  close?(): Promise<void>;
}

/** The face that a capability shows to the API. */
export interface ApiCapability<Settings extends TProperties = TProperties> {
  settings: Settings;
  jobs?: readonly JobDefinition[];
  open(context: ApiContext, settings: Static<TObject<Settings>>): OpenCapability | Promise<OpenCapability>;
}

/** Returns the face as it is, with the types of its settings inferred. */
export function defineApi<Settings extends TProperties>(face: ApiCapability<Settings>): ApiCapability {
  return face;
}

/** A partner, by its secret key, and the event that it named and that is granted to it. */
export interface PartnerPrincipal {
  kind: 'partner';
  /** Of key and event, which is the same. Under `test` nothing may ever be sent to anybody outside. */
  mode: Mode;
  partnerId: number;
  eventId: number;
  /** Where the event lives. */
  shardId: number;
  passPrefix: string;
  duplicatePolicy: DuplicatePolicy;
  duplicateScope: DuplicateScope;
  /** Until when its registrations may be cancelled, by Postgres's clock. Null: at any time. */
  cancelUntil: Date | null;
  /** The partner's limit; null where it has none. */
  requestsPerSecond: number | null;
  /** The partner's share where partners compete, relative to others'. */
  weight: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller. Set by the one hook that authenticates, on every route behind it. */
    principal: PartnerPrincipal;
    /**
     * Counts this request as so many against the partner's limit, including what it was counted as before. Resolves to false
     * when they are too many: then the request is answered.
     */
    countAs(requests: number): Promise<boolean>;
  }
}
