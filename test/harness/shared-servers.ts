import { createTestDatabase, type TestDatabase } from './database.ts';
import { startInProcessApi, type InProcessApi } from './in-process-api.ts';

class SharedServers {
  #database: Promise<TestDatabase> | undefined;
  #api: Promise<InProcessApi> | undefined;
  #closed: Promise<void> | undefined;

  database(): Promise<TestDatabase> {
    return (this.#database ??= createTestDatabase());
  }

  /** An API on the shared database. */
  api(): Promise<InProcessApi> {
    return (this.#api ??= this.database().then(({ url }) => startInProcessApi({ DATABASE_URL: url })));
  }

  /** Can be repeated. */
  close(): Promise<void> {
    return (this.#closed ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await (await this.#api)?.close();
    await (await this.#database)?.drop();
  }
}

/**
 * The servers that the test files of this worker share. Each starts when the first file needs it. The only
 * state of the harness that outlives a file: Vitest keeps no fixture for several files, because each file
 * extends `test` by itself.
 */
export const sharedServers = new SharedServers();
