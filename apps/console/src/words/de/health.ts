import type { health as en } from '../en/health.ts';

export const health: typeof en = {
  title: 'Zustand',
  about: 'Was läuft, was wartet und was fehlgeschlagen ist.',
  fine: 'Alles funktioniert.',
  attention: (count) =>
    count === 1 ? 'Ein Punkt braucht Aufmerksamkeit.' : `${count} Punkte brauchen Aufmerksamkeit.`,
  unknown: 'Der Zustand ist noch nicht bekannt. Laden Sie die Seite in einigen Sekunden neu.',
  stateFine: 'In Ordnung',
  stateAttention: 'Achtung',
  services: { api: 'API', worker: 'Worker', delivery: 'Zustellung', console: 'Konsole' },
  kinds: { mail: 'E-Mails', webhook: 'Webhooks' },
  sentKinds: { mail: 'E-Mails', webhook: 'Webhooks' },
  findings: {
    postgresDown:
      'Postgres antwortet nicht. Nichts kann verkauft oder geändert werden; Partner erhalten die Antwort 90 ' +
      'und versuchen es erneut. Was verkauft ist, ist sicher.',
    serviceMissing: {
      api: 'Keine API meldet sich. Nichts kann verkauft werden.',
      worker: 'Kein Worker meldet sich. Nichts geht verloren: Bestätigungen und E-Mails warten.',
      delivery: 'Keine Zustellung meldet sich. Nichts geht verloren: E-Mails und Webhooks warten.',
    },
    silentFor: (duration) => `Die letzte Meldung ist ${duration} her.`,
    processLost: (service, host, duration) =>
      `${service} auf ${host} hat sich seit ${duration} nicht gemeldet. Andere Prozesse übernehmen die Arbeit.`,
    queueDown: 'Die Warteschlange antwortet nicht. Nichts geht verloren: Bestätigungen kommen etwas später.',
    queueUnsafe: 'Die Warteschlange könnte Aufgaben verlieren.',
    queueWithoutWorker:
      'Kein Worker ist mit der Warteschlange verbunden. Nichts geht verloren: Bestätigungen warten.',
    batchesFailed: (count, text) =>
      count === 1
        ? 'Eine Gruppe von Registrierungen konnte nicht bestätigt werden. Sie behalten ihre Plätze.'
        : `${text} Gruppen von Registrierungen konnten nicht bestätigt werden. Sie behalten ihre Plätze.`,
    backlogOld: (age) => `Bestätigungen sind verspätet: Die älteste wartet seit ${age}.`,
    deliveriesOld: (kind, age) => `${kind} sind verspätet: Die älteste Nachricht wartet seit ${age}.`,
    deliveriesFailing: (kind, failing, all) =>
      `${kind} schlagen bei ${failing} von ${all} Empfängern des Journals fehl.`,
    retriesOld: (kind, age) => `${kind}: Die älteste Nachricht schlägt seit ${age} fehl.`,
    shardsAway: (shards) => `Teile der Datenbank antworten nicht: die Shards ${shards}.`,
    figuresUnknown: 'Die Konsole kann nicht lesen, was wartet.',
    devicesSilent: (count, text) =>
      count === 1
        ? 'Ein Scanner an einem offenen Eingang hat seit 5 Minuten keinen Kontakt.'
        : `${text} Scanner an offenen Eingängen haben seit 5 Minuten keinen Kontakt.`,
    scansWaiting: (duration) => `Ein Scanner hat seit ${duration} Scans, die nicht angekommen sind.`,
    doorConflicts: (count, text) =>
      count === 1
        ? 'Ein Platz hat in den letzten 15 Minuten zwei Personen eingelassen.'
        : `${text} Plätze haben in den letzten 15 Minuten zwei Personen eingelassen.`,
  },
  processes: 'Prozesse',
  noProcesses: 'Kein Prozess meldet sich.',
  service: 'Dienst',
  host: 'Rechner',
  version: 'Version',
  since: 'Läuft seit',
  state: 'Zustand',
  reports: 'Meldet sich',
  silent: (duration) => `Seit ${duration} still`,
  doing: 'Gerade',
  waitingCalls: (count, text) => (count === 1 ? '1 Aufruf wartet' : `${text} Aufrufe warten`),
  queueUp: 'Warteschlange antwortet',
  queueIsDown: 'Warteschlange antwortet nicht',
  sends: (kinds) => `versendet ${kinds}`,
  backlog: 'Was wartet',
  nothingPending: 'Alle Registrierungen sind bestätigt.',
  pending: (count, text, age) =>
    count === 1
      ? `1 Gruppe von Registrierungen wartet auf Bestätigung, seit ${age}.`
      : `${text} Gruppen von Registrierungen warten auf Bestätigung, die älteste seit ${age}.`,
  changesPending: (count, text) =>
    count === 1
      ? '1 Änderung wartet auf Veröffentlichung.'
      : `${text} Änderungen warten auf Veröffentlichung.`,
  nothingBehind: (kind) => `${kind}: Nichts wartet.`,
  behind: (kind, behind, consumers) => `${kind}: ${behind} von ${consumers} Lesern haben etwas zu senden.`,
  oldest: (age) => `Die älteste Nachricht wartet seit ${age}.`,
  oldestRetry: (age) => `Der älteste Fehler dauert seit ${age} an.`,
  failedBatches: 'Fehlgeschlagene Gruppen',
  noFailedBatches: 'Keine Gruppe ist fehlgeschlagen.',
  failedBatchesAbout:
    'Ihre Registrierungen behalten ihre Plätze und sind nicht bestätigt. Beheben Sie die Ursache und lassen ' +
    'Sie es den Worker dann erneut versuchen.',
  failedAt: 'Fehlgeschlagen',
  reason: 'Grund',
  remedy: 'Was zu tun ist',
  registrations: 'Registrierungen',
  events: 'Veranstaltungen',
  redrive: 'Erneut versuchen',
  redriveAll: 'Alle erneut versuchen',
  remedies: {
    privilege:
      'Dem Worker fehlt ein Recht. Führen Sie floodgate migrate aus und versuchen Sie es dann erneut.',
    missing:
      'Eine Tabelle, Spalte oder Funktion fehlt. Führen Sie floodgate migrate aus und versuchen Sie es dann erneut.',
    timeout: 'Postgres war zu langsam. Suchen Sie nach Sperren und Last und versuchen Sie es dann erneut.',
    space: 'Postgres hat keinen Speicherplatz mehr. Schaffen Sie Platz und versuchen Sie es dann erneut.',
    other:
      'Suchen Sie den Grund im Log des Workers, beheben Sie die Ursache und versuchen Sie es dann erneut.',
  },
  failing: 'E-Mails und Webhooks mit Fehlern',
  noFailing: 'Nichts schlägt fehl.',
  event: 'Veranstaltung',
  kind: 'Art',
  attempts: 'Fehlversuche',
  failingSince: 'Seit',
  disabled: 'Abgeschaltet',
  paused: 'Angehalten',
  retried: 'Wird erneut versucht',
  ofEvent: (id) => `Veranstaltung ${id}`,
};
