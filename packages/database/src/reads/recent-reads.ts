import type { Database } from '../connection/connect.ts';

/** What was read, and how old it is. */
export interface Recent<Value> {
  value: Value;
  /** It shows all that had committed on the primary at this moment of performance.now(), and perhaps more. */
  asOf: number;
}

/** Where reads that may be a little outdated go. */
export interface RecentReads {
  /** Hands `read` a database that shows everything which had committed on the primary MAX_LAG_MS ago. May call it twice. */
  read<Value>(read: (db: Database) => Promise<Value>): Promise<Recent<Value>>;
}

/** Reads from the primary: nothing is outdated. */
export function primaryReads(primary: Database): RecentReads {
  return {
    async read(read) {
      const asOf = performance.now();
      return { value: await read(primary), asOf };
    },
  };
}
