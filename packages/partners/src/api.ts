import { defineApi } from '@floodgate/http';
import { AccessControl } from './access/access-control.ts';
import { authenticate } from './access/authenticate.ts';
import { limitRate } from './rate-limit/limit-rate.ts';
import { DRAW_WITHIN_MS, RateLimiter } from './rate-limit/rate-limiter.ts';

/** Lets partners through to every other capability, each within its limit. */
export const partnersApi = defineApi({
  settings: {},
  open({ log, reads, openPool }) {
    const accessControl = new AccessControl(reads);
    // Connects only where a partner has a limit.
    const counters = openPool({ purpose: 'limits', maxConnections: 1, statementTimeoutMs: DRAW_WITHIN_MS });
    return {
      guard(api) {
        api.decorateRequest('principal', null as never);
        api.addHook('onRequest', authenticate(accessControl));
        api.addHook('onRequest', limitRate(new RateLimiter(counters, log)));
      },
    };
  },
});
