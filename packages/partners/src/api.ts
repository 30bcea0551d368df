import { DRAW_WITHIN_MS } from '@floodgate/database/limits/draw-permits';
import { defineApi } from '@floodgate/http';
import { accessControl, authenticate } from './access.ts';
import { countNothing, limitRate } from './rate-limit.ts';

/** Lets partners through to every other capability, each within its limit. */
export const partnersApi = defineApi({
  settings: {},
  open({ log, reads, openPool }) {
    // Connects only where a partner has a limit.
    const counters = openPool({ purpose: 'limits', maxConnections: 1, statementTimeoutMs: DRAW_WITHIN_MS });
    return {
      guard(api) {
        api.decorateRequest('principal', null as never);
        api.decorateRequest('countAs', countNothing);
        api.addHook('onRequest', authenticate(accessControl(reads)));
        api.addHook('onRequest', limitRate(counters, log));
      },
    };
  },
});
