export * from './create-ticket.ts';
export * from './list-tickets.ts';
export type { TicketSettings } from './ticket-settings.ts';
export * from './update-ticket.ts';
