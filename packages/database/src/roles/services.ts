/** A process with a database role of its own. The operator's command is the owner's. */
export const SERVICES = ['api', 'worker', 'delivery'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The delivery process reads the journal, not the queue. */
export const usesQueue = (service: ServiceName) => service !== 'delivery';
