import type { WorkerCapability } from '@floodgate/queue';
import { registrationsWorker } from '@floodgate/registrations/worker';

/** Everything that the worker does. */
export const CAPABILITIES: readonly WorkerCapability[] = [registrationsWorker];
