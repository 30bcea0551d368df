import type { waitingList as en } from '../en/waiting-list.ts';

export const waitingList: typeof en = {
  title: (ticket) => `Warteliste: ${ticket}`,
  about: 'In der Reihenfolge der Anmeldung. Freie Plätze werden den Ersten angeboten, für die sie reichen.',
  none: 'In dieser Liste steht niemand.',
  place: 'Rang',
  seats: 'Plätze',
  state: 'Stand',
  reference: 'Bestellung',
  joined: 'Angemeldet',
  expires: 'Angebot endet',
  skipped: 'Übergangen',
  states: {
    waiting: 'Wartet',
    offered: 'Angeboten',
    confirmed: 'Bestätigt',
    expired: 'Angebot abgelaufen',
    left: 'Zurückgezogen',
  },
};
