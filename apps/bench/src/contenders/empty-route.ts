import { fileURLToPath } from 'node:url';
import { ContenderProcess } from './contender-process.ts';
import type { Contender } from './contender.ts';

/** The ceiling over HTTP: a Fastify route that validates the same requests and stores nothing. */
export const emptyRoute: Contender = {
  name: 'empty-route',
  description: 'ceiling: a Fastify route that validates the same request, answers at once and stores nothing',
  start: async ({ apiFlags = [] }) => {
    const entry = fileURLToPath(new URL('empty-route-main.ts', import.meta.url));
    const route = new ContenderProcess({ name: 'the empty route', flags: apiFlags, args: [entry] });
    return {
      baseUrl: await route.printed(/at (http:\S+)/),
      pids: { api: route.pid },
      apiOutput: () => route.output,
      stop: () => route.end(),
    };
  },
};
