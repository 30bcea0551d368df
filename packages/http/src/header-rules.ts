import type { FastifyInstance, FastifyRequest, preHandlerHookHandler } from 'fastify';

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
    /** Answered 11 where they are broken, together with the fields of the body that are wrong. */
    headerRules?: readonly HeaderRule[];
  }
}

/** Has every route that is registered after it and brings header rules keep them. */
export function keepHeaderRules(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const rules = route.config?.headerRules;
    if (rules) route.preHandler = [refuseWrongHeaders(rules), ...[route.preHandler ?? []].flat()];
  });
}

/** Returns the sentences of the rules that a request breaks. */
export function brokenHeaderRules(request: FastifyRequest, rules: readonly HeaderRule[] = []): string[] {
  return rules.filter((rule) => !isKept(rule, request)).map(({ rule }) => rule);
}

/** The hook for requests whose body is right; those with a wrong one the error handler answers. */
function refuseWrongHeaders(rules: readonly HeaderRule[]): preHandlerHookHandler {
  return function refuseWrongHeader(request, reply, done) {
    if (rules.every((rule) => isKept(rule, request))) done();
    else reply.fail('11', { message: brokenHeaderRules(request, rules).join('; ') });
  };
}

function isKept({ name, isValid }: HeaderRule, { headers }: FastifyRequest): boolean {
  const value = headers[name];
  return value === undefined || isValid(value);
}
