import type { newEvent as en } from '../en/new-event.ts';

export const newEvent: typeof en = {
  title: 'Neue Veranstaltung',
  about:
    'Alles, was der Verkauf braucht, auf einer Seite. Bis Sie am Ende den Knopf drücken, geschieht nichts.',
  what: 'Name, Ort und Zeit',
  name: 'Name der Veranstaltung',
  nameHint: 'Zum Beispiel: Sommerfest Köln',
  venueHint: 'Zum Beispiel: Tanzbrunnen, Köln. Kann leer bleiben.',
  zoneHint: 'Zum Beispiel: Europe/Berlin. Alle Zeiten auf dieser Seite gelten in dieser Zone.',
  currencyHint: 'Zum Beispiel: EUR. Kann bei freiem Eintritt leer bleiben.',
  modeHint:
    'Eine Testveranstaltung wird nur mit Testschlüsseln verkauft. Das lässt sich später nicht ändern.',
  aboutTickets: 'Eine Zeile, die Sie leer lassen, ist kein Ticket. Weitere können Sie jederzeit hinzufügen.',
  ticketNumber: (number) => `Ticket ${number}`,
  ticketFields: {
    title: 'Name',
    capacity: 'Plätze',
    price: 'Preis',
    saleStartsAt: 'Verkauf ab',
    saleEndsAt: 'Verkauf bis',
  },
  saleTimes: 'Wann der Verkauf beginnt und endet',
  ticketHints: {
    title: 'Zum Beispiel: Stehplatz',
    capacity: 'Zum Beispiel: 5000',
    price: 'Zum Beispiel: 49,90. Leer: kostenlos.',
    saleStartsAt: 'Leer: sofort',
    saleEndsAt: 'Leer: bis Sie ihn stoppen',
  },
  more: 'Weitere Tickets',
  chooseSellers: 'Wählen Sie Partner. Das können Sie jederzeit ändern.',
  noPartners: 'Es gibt noch keine Partner. Ohne Partner kann niemand die Veranstaltung verkaufen.',
  mailKinds: 'Was Teilnehmende von uns bekommen',
  sendsMail: 'Ihren Pass, Neues zu Zeit und Ort und Angebote einer Warteliste',
  mailOperatorCancels: 'Eine E-Mail, wenn Ihr Team den Platz storniert',
  mailPartnerCancels: 'Eine E-Mail, wenn der Partner den Platz storniert',
  replyToHint: 'Eine E-Mail-Adresse. Kann leer bleiben.',
  passes: 'Pässe',
  prefixHint:
    '2 bis 8 Zeichen aus A–Z und 0–9, vor der Nummer jedes Passes. Leer: die ersten Buchstaben des Namens.',
  fixedHint: 'Das lässt sich später nicht ändern.',
  make: 'Veranstaltung anlegen',
  look: (count) => `Noch ist nichts angelegt. Felder, die Sie ansehen müssen: ${count}.`,
  order: 'eine Zeit nach dem Beginn',
};
