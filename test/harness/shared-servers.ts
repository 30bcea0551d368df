import { createTestDatabase, type TestDatabase } from './database.ts';
import { startInProcessApi, type InProcessApi } from './in-process-api.ts';

/** The servers that the test files of one worker share. Each starts when the first file needs it. */
export class SharedServers {
  #database: Promise<TestDatabase> | undefined;
  #api: Promise<InProcessApi> | undefined;

  database(): Promise<TestDatabase> {
    return (this.#database ??= createTestDatabase());
  }

  /** An API with default settings on the shared database. */
  api(): Promise<InProcessApi> {
    return (this.#api ??= this.database().then(({ url }) => startInProcessApi({ DATABASE_URL: url })));
  }

  async close(): Promise<void> {
    await (await this.#api)?.close();
    await (await this.#database)?.drop();
  }
}
