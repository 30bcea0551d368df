import type { DuplicatePolicy } from '@floodgate/database';

/** A partner, by its secret key, and the event that it named and that is granted to it. */
export interface PartnerPrincipal {
  kind: 'partner';
  partnerId: number;
  eventId: number;
  passPrefix: string;
  duplicatePolicy: DuplicatePolicy;
  /** The partner's limit; null where it has none. */
  requestsPerSecond: number | null;
}

/** Who makes a request, and what they may do. A further kind of caller is one more member. */
export type Principal = PartnerPrincipal;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the one hook that authenticates, on every route behind it. */
    principal: Principal;
  }
}
