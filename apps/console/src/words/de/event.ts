import type { event as en } from '../en/event.ts';

export const event: typeof en = {
  tabs: {
    overview: 'Übersicht',
    tickets: 'Tickets',
    attendees: 'Teilnehmende',
    partners: 'Partner',
    messages: 'Nachrichten',
    door: 'Einlass',
    reports: 'Berichte',
    settings: 'Einstellungen',
  },
  watch: 'Live ansehen',
  stopSale: 'Verkauf ganz stoppen',
  resumeSale: 'Verkauf fortsetzen',
  noTime: 'noch ohne Termin',
  noPlace: 'noch ohne Ort',
  live: 'echt',
  test: 'Test',
  states: {
    calledOff: 'Abgesagt',
    archived: 'Archiviert',
    onSale: 'Im Verkauf',
    offSale: 'Nicht im Verkauf',
    soldOut: 'Ausverkauft',
    soldOutWaiting: (waiting) => `Ausverkauft · ${waiting} warten`,
    over: 'Vorbei',
    noSellers: 'Kein Partner darf verkaufen',
    opens: (time) => `Verkauf ab ${time}`,
    ended: 'Verkauf beendet',
    noTickets: 'Keine Tickets',
  },
};
