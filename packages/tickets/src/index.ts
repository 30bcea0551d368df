export * from './available/ticket-list.ts';
export * from './tickets.ts';
