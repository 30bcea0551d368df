import { DRAW_WITHIN_MS } from '@floodgate/database/limits/quota-lease';
import { defineApi } from '@floodgate/http';
import { accessControl, authenticate, startTime } from './access.ts';
import { admitBody } from './body-room.ts';
import { countNothing, limitRate } from './limits.ts';

/** Authenticates partners and enforces their limits, before the routes of every other capability. */
export const partnersApi = defineApi({
  open({ log, reads, openPool, answerWithinMs, clock }) {
    // Connects only if a partner has a limit.
    const counters = openPool({ purpose: 'limits', maxConnections: 1, statementTimeoutMs: DRAW_WITHIN_MS });
    return {
      routes(api) {
        api.decorateRequest('principal', null as never);
        api.decorateRequest('authenticationMs', 0);
        api.decorateRequest('startedAt', 0);
        api.decorateRequest('countAs', countNothing);
        const authentication = authenticate(accessControl(reads, clock), answerWithinMs, clock);
        for (const hook of [authentication, limitRate(counters, log, clock), admitBody()])
          api.addHook('onRequest', hook);
        api.addHook('preValidation', startTime(clock));
      },
    };
  },
});
