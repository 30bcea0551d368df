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

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the request. Set by the one hook that authenticates, on every route behind it. */
    principal: PartnerPrincipal;
  }
}
