import { fileURLToPath } from 'node:url';
import { ContenderProcess } from './contender-process.ts';
import type { Contender } from './contender.ts';

/** The ceiling over HTTP: a Fastify route that validates the same requests and stores nothing. */
export const emptyRoute: Contender = {
  name: 'empty route',
  start: async () => {
    const entry = fileURLToPath(new URL('empty-route-main.ts', import.meta.url));
    const route = new ContenderProcess({ name: 'the empty route', args: [entry] });
    return {
      baseUrl: await route.printed(/at (http:\S+)/),
      pids: { api: route.pid },
      stop: () => route.end(),
    };
  },
};
