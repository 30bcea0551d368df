import type { deliveries as en } from '../en/deliveries.ts';

export const deliveries: typeof en = {
  title: 'Zustellungen',
  about: 'Was an Teilnehmende und Partner gesendet wird, und was nicht ankam.',
  testMail: 'Test-E-Mail senden',
  progress: {
    title: 'Ist alles unterwegs?',
    mail: 'E-Mails an Teilnehmende',
    webhook: 'Webhooks der Partner',
    fine: 'Nichts wartet.',
    behind: (count, of) => `${count} von ${of} Lesern haben noch etwas zu senden.`,
    oldest: (age) => `Seit ${age} wartet das Älteste.`,
    retry: (age) => `Seit ${age} misslingt etwas und wird wieder versucht.`,
    failing: (count) => `Bei ${count} ist der letzte Versuch misslungen.`,
    disabled: (count) => `${count} sind abgeschaltet.`,
    none: 'Keine Veranstaltung sendet E-Mails, und es gibt keinen Webhook.',
  },
  mails: {
    title: 'E-Mails nach Veranstaltung',
    none: 'Für keine Veranstaltung sind E-Mails eingeschaltet.',
    event: 'Veranstaltung',
    state: 'E-Mails',
    waiting: 'Warten',
    retried: 'Neuer Versuch',
    undeliverable: 'Nicht zugestellt',
    suppressed: 'Unterdrückt',
    states: { active: 'An', paused: 'Pausiert', disabled: 'Abgeschaltet' },
    moreThan: (count) => `mehr als ${count}`,
    who: 'Wer und warum',
  },
  failing: {
    title: 'Webhooks, die Aufmerksamkeit brauchen',
    none: 'Alle Webhooks arbeiten.',
  },
  suppressions: {
    title: 'Adressen, die keine E-Mails bekommen',
    about:
      'Ein Mailserver hat jede dieser Adressen endgültig abgelehnt, deshalb wird an sie nichts mehr ' +
      'gesendet, für keine Veranstaltung. Die Adresse selbst ist nicht gespeichert. Um wieder zu ' +
      'senden, suchen Sie die Person, berichtigen Sie die Adresse oder vergewissern Sie sich, dass ' +
      'sie funktioniert, und heben Sie dann die Unterdrückung auf.',
    none: 'Keine Adresse ist unterdrückt.',
    reason: 'Grund',
    event: 'Zuerst abgelehnt für',
    since: 'Seit',
    digest: 'Prüfsumme',
    lift: 'Wieder senden',
    most: (count) => `Die neuesten ${count} werden gezeigt.`,
  },
  reasons: {
    '5.1.2': 'Die Domain der Adresse gibt es nicht, oder sie nimmt keine E-Mails an',
    '5.1.10': 'Die Domain der Adresse gibt es nicht, oder sie nimmt keine E-Mails an',
    '5.1.6': 'Das Postfach ist umgezogen',
    '5.1': 'Die Adresse gibt es nicht',
    '5.2.1': 'Das Postfach ist abgeschaltet',
    '5.2.2': 'Das Postfach ist voll',
    '5.2': 'Das Postfach kann nicht benutzt werden',
    '5.7': 'Der Mailserver hat sie nach seinen Regeln abgelehnt',
    '550': 'Der Mailserver hat die Adresse abgelehnt',
    '551': 'Das Postfach ist umgezogen',
    '552': 'Das Postfach ist voll',
    '553': 'Der Mailserver hat die Form der Adresse abgelehnt',
    address: 'Die Adresse ist ungültig',
    other: (reason) => `Der Mailserver hat sie abgelehnt (${reason})`,
  },
};
