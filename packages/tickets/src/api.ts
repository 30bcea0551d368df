export { ticketsRoute } from './available/route.ts';
