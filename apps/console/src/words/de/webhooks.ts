import type { webhooks as en } from '../en/webhooks.ts';

export const webhooks: typeof en = {
  webhook: 'Webhook',
  titleOf: (partner) => `Webhook von ${partner}`,
  aboutOf: 'Teilt einem Server des Partners mit, wenn sich eine Anmeldung ändert.',
  receiver: 'Empfänger',
  event: 'Veranstaltung',
  partner: 'Partner',
  state: 'Zustand',
  description: 'Beschreibung',
  types: 'Sendet',
  include: 'Mit',
  perMessage: 'Einträge pro Nachricht, höchstens',
  created: 'Hinzugefügt',
  backlog: 'Ältester nicht gesendeter Eintrag',
  nothingWaits: 'nichts wartet',
  failures: 'Fehlversuche in Folge',
  failingSince: 'Misslingt seit',
  nextAttempt: 'Nächster Versuch',
  notice: 'Hinweis an den Partner',
  publicKey: 'Öffentlicher Schlüssel',
  cursor: 'Cursor',
  states: {
    active: 'Arbeitet',
    failing: 'Misslingt',
    paused: 'Pausiert',
    disabled: 'Abgeschaltet',
  },
  sentences: {
    active: 'Er sendet jede Änderung binnen Sekunden.',
    failing: (count) =>
      `Die letzten ${count} Versuche sind misslungen. Er wird von selbst wieder versucht; nach fünf ` +
      'Tagen wird er abgeschaltet.',
    pausedByOperator:
      'Er wurde hier in der Konsole pausiert. Der Partner kann ihn nicht fortsetzen. Nichts geht ' +
      'verloren: Er macht weiter, wo er aufhörte.',
    pausedByPartner: 'Der Partner hat ihn pausiert. Nichts geht verloren: Er macht weiter, wo er aufhörte.',
    gone:
      'Der Empfänger antwortete, dass es ihn nicht mehr gibt (410). Es wird nichts mehr gesendet. ' +
      'Fragen Sie den Partner, und setzen Sie ihn dann fort.',
    failedTooLong:
      'Fünf Tage lang misslang jeder Versuch. Es wird nichts mehr gesendet. Fragen Sie den Partner, ' +
      'und setzen Sie ihn dann fort.',
  },
  do: {
    pause: 'Pausieren',
    resume: 'Fortsetzen',
    test: 'Testnachricht senden',
    replay: 'Ab einer Zeit neu senden',
    change: 'Ändern',
    rotate: 'Neues Geheimnis',
    delete: 'Löschen',
  },
  attempts: {
    title: 'Letzte Versuche',
    none: 'Noch wurde nichts gesendet.',
    at: 'Um',
    outcome: 'Ergebnis',
    answer: 'Antwort',
    entries: 'Einträge',
    took: 'Dauer',
    message: 'Nachricht',
    outcomes: {
      delivered: 'Zugestellt',
      slowed: 'Der Empfänger bat zu warten',
      gone: 'Den Empfänger gibt es nicht mehr',
      refused: 'Abgelehnt',
      failed: 'Keine Antwort',
      stopped: 'Durch einen Neustart hier unterbrochen',
    },
    status: (status) => `HTTP ${status}`,
    errors: {
      FORBIDDEN_ADDRESS: 'Der Name führt zu einer Adresse, die nicht öffentlich ist',
      HTTPS_REQUIRED: 'Die Adresse muss mit https beginnen',
      TIMEOUT: 'Keine Antwort binnen 15 Sekunden',
      TEST_EVENT: 'Für eine Testveranstaltung wird nichts gesendet',
      NO_ACCESS: 'Der Partner darf die Veranstaltung nicht verkaufen oder hat keinen Schlüssel',
      ENOTFOUND: 'Den Namen des Servers gibt es nicht',
      ECONNREFUSED: 'Der Server nimmt keine Verbindung an',
      ECONNRESET: 'Der Server hat die Verbindung beendet',
    },
  },
};
