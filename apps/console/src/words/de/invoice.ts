import type { invoice as en } from '../en/invoice.ts';

export const invoice: typeof en = {
  invoice: 'Rechnung',
  event: 'Veranstaltung',
  when: 'Wann',
  period: 'Verkauft und storniert',
  made: 'Erstellt',
  total: 'Summe',
};
