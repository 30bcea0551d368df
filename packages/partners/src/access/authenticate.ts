import { isUuid } from '@floodgate/contract';
import type { onRequestHookHandler } from 'fastify';
import type { Access, AccessControl } from './access-control.ts';

/**
 * Returns the hook that sets the principal: key first, then event reference, then the event itself, and all of it before a
 * byte of the body is read.
 */
export function authenticate(accessControl: AccessControl): onRequestHookHandler {
  return function authenticateRequest(request, reply, done) {
    // A cache on the way must not give one partner's answer to another: it knows Authorization, but not this header.
    void reply.header('cache-control', 'no-store');
    const secretKey = request.headers['x-secret-key'];
    if (typeof secretKey !== 'string' || secretKey === '') {
      reply.fail('20', secretKey === undefined ? { message: 'x-secret-key is missing' } : {});
      return;
    }
    const header = request.headers['x-event-ref'];
    const eventRef = isUuid(header) ? header : null;
    const admit = (access: Access) => {
      if (access.kind === 'unknown-key') reply.fail('20');
      else if (eventRef === null) reply.fail('12');
      else if (access.kind === 'no-such-event') reply.fail('21');
      else {
        request.principal = access;
        done();
      }
    };
    const known = accessControl.peek(secretKey, eventRef);
    if (known) admit(known);
    else accessControl.check(secretKey, eventRef).then(admit).catch(done);
  };
}
