import type { refusals as en } from '../en/refusals.ts';

/** Gründe für abgelehnte Anfragen, nach Antwortcode, und was zu tun ist. */
export const refusals: typeof en = {
  '10': {
    why: 'Die Anfrage war fehlerhaft aufgebaut oder zu groß',
    todo: 'Der Partner muss seine Software korrigieren: Die Antwort nennt den Fehler.',
  },
  '11': {
    why: 'Ein Feld war ungültig, zum Beispiel ein Name oder eine E-Mail-Adresse',
    todo: 'Der Partner muss sein Formular korrigieren: Die Antwort nennt jedes Feld und seine Regel.',
  },
  '12': {
    why: 'Die Referenz der Veranstaltung fehlte oder ist keine',
    todo: 'Schicken Sie dem Partner die Referenz (x-event-ref). Sie steht in den Einstellungen der Veranstaltung.',
  },
  '20': {
    why: 'Der Schlüssel ist abgelaufen, widerrufen oder für den anderen Modus, oder der Partner ist gesperrt',
    todo: 'Sehen Sie unten die Schlüssel an. Geben Sie einen neuen aus oder entsperren Sie den Partner.',
  },
  '21': {
    why:
      'Die Veranstaltung gibt es nicht, sie ist für den Partner nicht offen, oder der Schlüssel hat ' +
      'den anderen Modus',
    todo: 'Lassen Sie den Partner die Veranstaltung verkaufen, und prüfen Sie, ob er einen passenden Schlüssel hat.',
  },
  '30': {
    why: 'Die Veranstaltung hat kein solches Ticket',
    todo: 'Der Partner muss die Liste der Tickets neu lesen und deren Nummern verwenden.',
  },
  '31': {
    why: 'Das Ticket war nicht im Verkauf',
    todo: 'Sehen Sie die Tickets an: Ist der Verkauf gestoppt, noch nicht offen oder vorbei?',
  },
  '32': {
    why: 'Ausverkauft, oder das Kontingent des Partners ist verkauft',
    todo: 'Erhöhen Sie die Kapazität, oder geben Sie dem Partner mehr eigene Plätze.',
  },
  '33': {
    why: 'Die E-Mail-Adresse ist schon angemeldet, und die Veranstaltung erlaubt sie nur einmal',
    todo: 'Nichts, wenn Sie die Regel zu Doppelten so wollen.',
  },
  '34': {
    why: 'Der Partner hat keine solche Anmeldung, Reservierung oder Stelle auf der Warteliste',
    todo: 'Der Partner muss die Referenz prüfen. Anmeldungen anderer Partner sieht er nicht.',
  },
  '35': {
    why: 'Die Anmeldung lässt es nicht mehr zu: storniert, eingelassen, abgelaufen oder nach der Frist',
    todo: 'Sie können für den Partner stornieren: Suchen Sie die Person, und stornieren Sie die Anmeldung.',
  },
  '36': {
    why: 'An ihr lag es nicht: Eine andere Anmeldung desselben Aufrufs wurde abgelehnt',
    todo: 'Sehen Sie die anderen Gründe an. Der Partner kann seine Aufrufe im Modus „each“ senden.',
  },
  '37': {
    why: 'Der Partner hält so viele Plätze, wie er darf',
    todo: 'Er muss Reservierungen bestätigen oder freigeben. Sie können ändern, wie viele er halten darf.',
  },
  '38': {
    why: 'Er wollte auf die Warteliste, aber es gibt freie Plätze',
    todo: 'Nichts: Der Partner kann die Plätze verkaufen.',
  },
  '39': {
    why: 'Das Ticket hat keine offene Warteliste',
    todo: 'Öffnen Sie die Warteliste des Tickets, wenn Personen warten sollen.',
  },
  '40': {
    why: 'Der Partner hat einen Idempotency-Key für zwei verschiedene Anfragen verwendet',
    todo: 'Der Partner muss seine Software korrigieren: ein neuer Schlüssel für jede Anmeldung.',
  },
  '41': {
    why: 'Dieselbe Anfrage war noch in Arbeit',
    todo: 'Nichts: Der Partner sendet sie nach einer Sekunde noch einmal.',
  },
  '50': {
    why: 'Der Partner hat mehr Anfragen gesendet, als sein Limit erlaubt',
    todo: 'Erhöhen Sie das Limit, oder bitten Sie den Partner, seine Anfragen zu verteilen.',
  },
  '60': {
    why: 'Die Adresse der Anfrage gibt es nicht',
    todo: 'Der Partner muss seine Software korrigieren.',
  },
  '70': {
    why: 'Der Partner hat keinen solchen Webhook',
    todo: 'Der Partner muss seine Webhooks neu auflisten.',
  },
  '71': {
    why: 'Der Partner hat für die Veranstaltung schon zehn Webhooks',
    todo: 'Er muss einen löschen, den er nicht braucht.',
  },
  '72': {
    why: 'Der Webhook wurde hier in der Konsole pausiert',
    todo: 'Setzen Sie ihn fort, wenn der Empfänger wieder arbeitet.',
  },
  '90': {
    why: 'Der Dienst war überlastet oder erreichte seine Datenbank nicht',
    todo: 'Sehen Sie unter Zustand nach. Der Partner versucht es selbst wieder; nichts wurde reserviert.',
  },
  '91': {
    why: 'Es ist nicht bekannt, ob es gelungen ist',
    todo: 'Sehen Sie unter Zustand nach. Mit seinem Idempotency-Key erfährt der Partner das Ergebnis.',
  },
  '99': {
    why: 'Etwas Unerwartetes ist geschehen',
    todo: 'Es steht im Log der API, mit der Anfrage-ID, die der Partner bekam.',
  },
};
