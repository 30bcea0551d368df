import { BODY_LIMIT_BYTES } from '@floodgate/contract';
import { ping } from '@floodgate/database';
import { DRAW_WITHIN_MS } from '@floodgate/database/limits/quota-lease';
import { defineApi } from '@floodgate/http';
import type { FastifyRequest } from 'fastify';
import { accessControl, authenticate, startTime } from './access.ts';
import { admitBody } from './body-memory.ts';
import { countNothing, limitRate } from './rate-limit.ts';

/** Authenticates partners and enforces their limits, before the routes of every other capability. */
export const partnersApi = defineApi({
  async open({ log, reads, openPool, answerWithinMs, readWithinMs, clock }) {
    // Its own connection, so that no other read delays the authentication. One is enough: all waiting callers
    // are looked up by one statement.
    const keys = openPool({
      purpose: 'access',
      maxConnections: 1,
      connectTimeoutMs: readWithinMs,
      statementTimeoutMs: readWithinMs,
    });
    // Opened now: the first callers, often the first of a launch, would wait for it.
    await ping(keys);
    // Connects only if a partner has a limit.
    const counters = openPool({ purpose: 'limits', maxConnections: 1, statementTimeoutMs: DRAW_WITHIN_MS });
    return {
      routes(api) {
        api.decorateRequest('principal', null as never);
        api.decorateRequest('refusedPartnerId', undefined);
        api.decorateRequest('authenticationMs', 0);
        api.decorateRequest('startedAt', 0);
        api.decorateRequest('countAs', countNothing);
        // Below /api/v1 every caller has a key, so bodies can be larger than those of strangers.
        api.addHook('onRoute', (route) => {
          route.bodyLimit ??= BODY_LIMIT_BYTES;
        });
        const authentication = authenticate(accessControl(keys, clock, reads), answerWithinMs, clock);
        const callerOf = (request: FastifyRequest) => request.principal;
        const rateLimit = limitRate({ db: counters, log, callerOf, clock });
        for (const hook of [authentication, rateLimit, admitBody(callerOf)]) api.addHook('onRequest', hook);
        api.addHook('preValidation', startTime(clock));
      },
    };
  },
});
