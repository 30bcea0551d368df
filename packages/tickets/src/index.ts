export * from './available/list-available-tickets.ts';
export * from './available/ticket-list.ts';
export * from './create-ticket.ts';
export * from './list-tickets.ts';
export type { TicketRow, TicketSettings } from './ticket-settings.ts';
export * from './update-ticket.ts';
