import { isEventRef } from '@floodgate/contract';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Access, AccessControl, GrantedAccess } from './access-control.ts';
import { refuse } from '@floodgate/http';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authentication hook on every route behind it. */
    access: GrantedAccess;
  }
}

/**
 * The hook that lets a request through to its route: key first, then event reference, then the event itself,
 * and all of it before a byte of the body is read.
 */
export function authenticate(accessControl: AccessControl): onRequestHookHandler {
  return function authenticateRequest(request, reply, done) {
    // A cache on the way must not give one partner's answer to another: it knows Authorization, but not this header.
    void reply.header('cache-control', 'no-store');
    const secretKey = request.headers['x-secret-key'];
    if (typeof secretKey !== 'string' || secretKey === '') {
      reply.send(refuse(reply, '20'));
      return;
    }
    const header = request.headers['x-event-ref'];
    const eventRef = isEventRef(header) ? header : null;
    const admit = (access: Access) => admitOrRefuse(request, reply, access, eventRef, done);
    const known = accessControl.peek(secretKey, eventRef);
    if (known) admit(known);
    else accessControl.check(secretKey, eventRef).then(admit).catch(done);
  };
}

function admitOrRefuse(
  request: FastifyRequest,
  reply: FastifyReply,
  access: Access,
  eventRef: string | null,
  done: () => void,
): void {
  if (access.kind === 'unknown-key') reply.send(refuse(reply, '20'));
  else if (eventRef === null) reply.send(refuse(reply, '12'));
  else if (access.kind === 'no-such-event') reply.send(refuse(reply, '21'));
  else {
    request.access = access;
    done();
  }
}
