import type { FastifyInstance, FastifyRequest } from 'fastify';

/** What a header of a route may hold, where it is sent. */
export interface HeaderRule {
  /** In lower case. */
  name: string;
  /** The sentence that a caller reads when the header is wrong. */
  rule: string;
  isValid(value: unknown): boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered 11 where one is broken, together with the fields of the body that are wrong. */
    headerRules?: readonly HeaderRule[];
  }
}

/** Has every route that is registered after it keep its header rules. Where the body is wrong too, the error handler does. */
export function keepHeaderRules(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const rules = route.config?.headerRules;
    if (!rules) return;
    route.preHandler = function refuseWrongHeaders(request, reply, done) {
      const message = brokenHeaderRules(request, rules);
      if (message === '') done();
      else reply.fail('11', { message });
    };
  });
}

/** Returns the sentences of the rules that a request breaks; empty where there is none. */
export function brokenHeaderRules({ headers }: FastifyRequest, rules: readonly HeaderRule[]): string {
  let broken = '';
  for (const { name, rule, isValid } of rules)
    if (headers[name] !== undefined && !isValid(headers[name])) broken += `${broken && '; '}${rule}`;
  return broken;
}
