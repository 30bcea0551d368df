import type { Database } from '@floodgate/database';
import type { Logger } from '@floodgate/service';
import type { OpenCapability } from './capability.ts';
import { documentation } from './documentation/documentation.ts';
import { healthRoutes } from './health-routes.ts';
import type { Routes } from './routes.ts';
import { createServer } from './server.ts';

export interface ApiParts {
  log: Logger;
  /** What /health/ready asks. */
  reads: Database;
  queue: { problem(): string | null };
  capabilities: readonly OpenCapability[];
}

/** Builds the partners' HTTP API of what the capabilities bring. The caller listens, and closes it with closeServer. */
export async function buildApi({ log, reads, queue, capabilities }: ApiParts): Promise<Routes> {
  const app = createServer(log);
  await documentation(app);
  healthRoutes(app, reads, queue);
  await app.register(
    (api, _options, done) => {
      // Hooks first: a route passes those that were there before it.
      for (const capability of capabilities) capability.guard?.(api);
      for (const capability of capabilities) capability.routes?.(api);
      done();
    },
    { prefix: '/api/v1' },
  );
  return app;
}
