// The entry point for readers of the journal. It depends on no queue.
export { registrationsOf } from './list/list-registrations.ts';
export { statusOf } from './status/find-registrations.ts';
