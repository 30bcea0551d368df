import type { eventList as en } from '../en/event-list.ts';

export const eventList: typeof en = {
  add: 'Veranstaltung anlegen',
  lists: {
    upcoming: 'Kommende',
    running: 'Laufende',
    past: 'Vergangene',
    archived: 'Archiviert',
    test: 'Test',
  },
  filter: 'Name oder Ort',
  show: 'Zeigen',
  showAll: 'Alle zeigen',
  none: 'In dieser Liste steht keine Veranstaltung.',
  testsAreElsewhere: 'Test-Veranstaltungen stehen im Reiter „Test“.',
  noMatch:
    'Keine Veranstaltung in dieser Liste hat diesen Namen oder Ort. Sehen Sie auf die Zahlen der anderen Listen.',
  event: 'Veranstaltung',
  when: 'Wann',
  taken: 'Vergeben',
  seats: 'Plätze',
  state: 'Stand',
  ofCapacity: (taken, capacity) => `${taken} von ${capacity}`,
  nextOpening: 'Nächster Verkaufsstart:',
  inTime: (time) => `in ${time}`,
  pageOf: (number, last) => `Seite ${number} von ${last}`,
};
