export * from './create-event.ts';
export * from './grant-event.ts';
export * from './list-events.ts';
export * from './revoke-event.ts';
