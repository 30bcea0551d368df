import type { Logger } from '@floodgate/service';
import { describeError, throttledWarn } from '@floodgate/service/log';
import { reasonOf } from '@floodgate/service/failure';
import { repeat, withDeadline } from '@floodgate/service/timing';
import type { Database } from '../connection/connect.ts';
import { ConnectionFailed } from '../connection/failures.ts';
import { primaryReads, type Recent, type RecentReads } from './recent-reads.ts';
import { readReplayed, readWritten, type WalPosition } from './wal-position.ts';

/** What the replica shows is never older than this. With REPLICA_WITHIN_MS it stays below the second of a cache. */
export const MAX_LAG_MS = 500;
/** How long the replica may take before the primary is asked. */
export const REPLICA_WITHIN_MS = 250;
/** Half of the lag: there is always a mark that a replica has had some time to reach. */
const MARK_INTERVAL_MS = MAX_LAG_MS / 2;
/** After a failure: one read in this time tries the replica, the others go to the primary at once. */
const RETRY_AFTER_MS = 1_000;

/** How far the primary had written at a moment. */
interface Mark extends WalPosition {
  at: number;
}

interface Pools {
  /** Where reads go that the replica cannot answer. */
  primary: Database;
  /** To ask the primary how far it is: a connection of its own, for which it need not wait. */
  marks: Database;
  /** Connections and statements must give up within REPLICA_WITHIN_MS. */
  replica: Database;
}

/** Why the replica was not read. The message is for operators. */
class NotRecent extends Error {
  override name = 'NotRecent';
}

/**
 * Reads from a standby while it is proven to be recent, and else from the primary.
 *
 * The primary is asked again and again how far it has written. A standby that has replayed up to there shows whatever had
 * committed when it was asked. The standby says how far it is in the transaction that reads, so each server behind a
 * balancer speaks for itself. Without a proof that is recent enough the primary is read.
 */
export class ReplicaReads implements RecentReads, AsyncDisposable {
  readonly #replica: Database;
  readonly #primary: RecentReads;
  readonly #marking: ReturnType<typeof repeat>;
  readonly #warn: (error: unknown) => void;
  /** The newest first. */
  #marks: Mark[] = [];
  #problem: string | null = null;
  #retryAt = -Infinity;

  constructor({ primary, marks, replica }: Pools, log: Logger) {
    this.#replica = replica;
    this.#primary = primaryReads(primary);
    const warn = throttledWarn('a read that is for the replica (DATABASE_REPLICA_URL) goes to the primary');
    this.#warn = (error) => warn(log, { reason: explain(error) });
    // A failure needs no line of its own: without marks, reads say so.
    this.#marking = repeat(
      () => this.#mark(marks),
      MARK_INTERVAL_MS,
      () => {},
    );
  }

  async read<Value>(read: (db: Database) => Promise<Value>): Promise<Recent<Value>> {
    return (await this.#tryReplica(read)) ?? this.#primary.read(read);
  }

  /** Tries the replica, unless it has just failed, and returns in a few words why it is not read; null: it is. */
  async problem(): Promise<string | null> {
    await this.#tryReplica(() => Promise.resolve());
    return this.#problem;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#marking.stop();
  }

  async #mark(primary: Database): Promise<'done'> {
    const at = performance.now();
    const written = await readWritten(primary);
    this.#marks = [{ at, ...written }, ...this.#marks.filter((mark) => mark.at >= at - MAX_LAG_MS)];
    return 'done';
  }

  /** Resolves to null where the primary has to be asked. */
  async #tryReplica<Value>(read: (db: Database) => Promise<Value>): Promise<Recent<Value> | null> {
    const startedAt = performance.now();
    if (this.#problem !== null) {
      if (startedAt < this.#retryAt) return null;
      this.#retryAt = startedAt + RETRY_AFTER_MS;
    }
    try {
      const late = () => Promise.reject(new NotRecent(`no answer within ${REPLICA_WITHIN_MS} ms`));
      const recent = await withDeadline(this.#readReplica(read, startedAt), REPLICA_WITHIN_MS, late);
      this.#problem = null;
      return recent;
    } catch (error) {
      // Whatever it is: the primary decides whether the read can be answered.
      this.#problem = explain(error);
      this.#retryAt = performance.now() + RETRY_AFTER_MS;
      this.#warn(error);
      return null;
    }
  }

  async #readReplica<Value>(
    read: (db: Database) => Promise<Value>,
    startedAt: number,
  ): Promise<Recent<Value>> {
    const marks = this.#marks.filter(({ at }) => at >= startedAt - MAX_LAG_MS);
    if (marks.length === 0)
      throw new NotRecent(`the primary has not said for ${MAX_LAG_MS} ms how far it is`);
    // Read committed: each statement sees what was replayed before it began, so the position comes first.
    const transaction = this.#replica
      .transaction()
      .setIsolationLevel('read committed')
      .setAccessMode('read only');
    return transaction.execute(async (db) => {
      const asOf = provenMoment(marks, await readReplayed(db));
      return { value: await read(db), asOf };
    });
  }
}

/** Returns the last moment of which the standby shows everything. Throws NotRecent where there is none. */
function provenMoment(marks: readonly Mark[], replayed: WalPosition | null): number {
  if (replayed === null) throw new NotRecent('it is not a standby');
  if (replayed.log !== marks[0]!.log)
    throw new NotRecent('it follows another server, or has not made a restartpoint since the last failover');
  const reached = marks.find(({ log, bytes }) => log === replayed.log && bytes <= replayed.bytes);
  if (!reached) throw new NotRecent(`it lags by more than ${MAX_LAG_MS} ms`);
  return reached.at;
}

function explain(error: unknown): string {
  return error instanceof ConnectionFailed ? reasonOf(error.cause) : describeError(error).message;
}
