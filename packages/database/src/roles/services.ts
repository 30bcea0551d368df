/** The processes that have their own database role. The operator's command uses the owner's role. */
export const SERVICES = ['api', 'worker', 'delivery'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The delivery process reads the journal, not the queue. */
export const usesQueue = (service: ServiceName) => service !== 'delivery';
