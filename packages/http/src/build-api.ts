import type { Producer } from '@floodgate/queue';
import type { ApiContext, OpenCapability } from './capability.ts';
import { documentation } from './documentation/documentation.ts';
import { healthRoutes } from './health-routes.ts';
import { createServer, type Routes } from './server.ts';

interface ApiParts extends Pick<ApiContext, 'log' | 'reads'> {
  queue: Pick<Producer, 'problem'>;
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
