// What readers of the journal need. It depends on no queue.
export { registrationsOf } from './list/list-registrations.ts';
export { statusOf } from './status/find-registrations.ts';
