// What the journal tells of registrations, for those who pass it on. It needs no queue.
export { registrationsOf } from './list/list-registrations.ts';
export { statusOf } from './status/route.ts';
