/** The processes that have their own database role. The operator's command uses the owner's role. */
export const SERVICES = ['api', 'worker', 'delivery', 'console'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The delivery process reads the journal, and the console reads Postgres. */
export const usesQueue = (service: ServiceName) => service === 'api' || service === 'worker';
