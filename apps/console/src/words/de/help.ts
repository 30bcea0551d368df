import type { help as en } from '../en/help.ts';

export const help: typeof en = {
  title: 'Hilfe',
  operate: 'Für alle, die Veranstaltungen durchführen',
  guide: 'Für Partner',
  reference: 'Nachschlagen',
  language: 'Die Dokumentation gibt es nur auf Englisch.',
};
