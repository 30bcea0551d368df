import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';

/** A route of a server under test, with one method. */
export interface ListedRoute {
  method: string;
  url: string;
  /** The options of the route. Hooks of its server can still change them until the server listens. */
  options: RouteOptions;
}

/**
 * Starts servers in this process. Resolves to what `start` resolves to, and to the routes as the servers
 * register them, so that a test of a rule for every route cannot forget one.
 */
export async function listingRoutes<Result>(
  start: () => Promise<Result>,
): Promise<{ result: Result; routes: ListedRoute[] }> {
  const routes: ListedRoute[] = [];
  const listen = (message: unknown) =>
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (options) => {
      for (const method of [options.method].flat()) routes.push({ method, url: options.url, options });
    });
  subscribe('fastify.initialization', listen);
  try {
    return { result: await start(), routes };
  } finally {
    unsubscribe('fastify.initialization', listen);
  }
}
