import type { onRequestHookHandler } from '@floodgate/http';
import type { Registrar } from './registrar.ts';

/** Returns the hook that refuses what there is no room for before its body is read: that would slow down those who are served. */
export function refuseEarly(registrar: Pick<Registrar, 'admit' | 'retryAfterSeconds'>): onRequestHookHandler {
  return ({ principal }, reply, done) => {
    if (registrar.admit(principal)) done();
    else reply.fail('90', { retryAfterSeconds: registrar.retryAfterSeconds(principal) });
  };
}
