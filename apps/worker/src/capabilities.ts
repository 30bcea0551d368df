import type { WorkerCapability } from '@floodgate/queue';
import { registrationsWorker } from '@floodgate/registrations/worker';

/** Capabilities of the worker. */
export const CAPABILITIES: readonly WorkerCapability[] = [registrationsWorker];
