import { doorWorker } from '@floodgate/door/worker';
import { jobsWorker } from '@floodgate/jobs/worker';
import type { WorkerCapability } from '@floodgate/queue';
import { registrationsWorker } from '@floodgate/registrations/worker';
import { waitingListWorker } from '@floodgate/waiting-list/worker';

/** Capabilities of the worker. */
export const CAPABILITIES: readonly WorkerCapability[] = [
  registrationsWorker,
  waitingListWorker,
  doorWorker,
  jobsWorker,
];
