import type { tickets as en } from '../en/tickets.ts';

export const tickets: typeof en = {
  taken: (title, taken, capacity) => `${title}: ${taken} von ${capacity} Plätzen sind vergeben.`,
};
