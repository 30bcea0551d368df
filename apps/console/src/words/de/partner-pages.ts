import type { partnerPages as en } from '../en/partner-pages.ts';

export const partnerPages: typeof en = {
  title: 'Partner',
  about: 'Die Plattformen, die Personen zu Ihren Veranstaltungen anmelden.',
  add: 'Partner hinzufügen',
  empty:
    'Es gibt noch keinen Partner. Fügen Sie einen hinzu, geben Sie einen Schlüssel aus, und lassen ' +
    'Sie ihn eine Veranstaltung verkaufen.',
  partner: 'Partner',
  state: 'Zustand',
  events: 'Veranstaltungen',
  keys: 'Schlüssel',
  limit: 'Limit',
  share: 'Anteil',
  refusedHead: 'Abgelehnt in der letzten Stunde',
  house: 'Haus',
  houseAbout:
    'Ihre eigenen Gäste: Personen, die hier in der Konsole angemeldet werden. Ohne Schlüssel und ohne Limit.',
  enabled: 'Kann verkaufen',
  disabled: 'Gesperrt',
  noKey: 'Kein Schlüssel',
  noEvent: 'Keine Veranstaltung',
  noLimit: 'kein Limit',
  perSecond: (count) => `${count} Anfragen pro Sekunde`,
  contact: 'Kontakt',
  noContact: 'keiner: Niemand erfährt, wenn ein Webhook abgeschaltet wird',
  added: 'Hinzugefügt',
  weight: (weight) => `${weight} (1 ist üblich; zählt nur, wenn Partner um Plätze konkurrieren)`,
  change: {
    contact: 'Kontakt ändern',
    limit: 'Limit ändern',
    share: 'Anteil ändern',
    disable: 'Sperren',
    enable: 'Entsperren',
  },
  isDisabled:
    'Dieser Partner ist gesperrt: Jede seiner Anfragen wird abgelehnt, und seine Webhooks stehen still.',
  hasNoKey:
    'Dieser Partner hat keinen offenen Schlüssel und kann nicht verkaufen. Geben Sie einen aus, und ' +
    'schicken Sie ihn.',
  hasNoEvent: 'Dieser Partner darf keine Veranstaltung verkaufen.',
  refused: {
    title: 'Warum wurde er abgelehnt?',
    none: 'In der letzten Stunde wurde nichts abgelehnt.',
    why: 'Grund',
    count: 'Anfragen',
    todo: 'Was zu tun ist',
    code: (code) => `Code ${code}`,
    about:
      'Anfragen und Anmeldungen der letzten Stunde, wie die laufenden API-Prozesse sie gezählt ' +
      'haben. Ein neu gestarteter Prozess zählt von null an.',
    other: 'Ein anderer Grund',
  },
  sells: {
    title: 'Veranstaltungen, die er verkaufen darf',
    event: 'Veranstaltung',
    starts: 'Beginn',
    key: 'Schlüssel dafür',
    noKey: (mode) => `keiner für ${mode}: Er kann nicht verkaufen`,
    none: 'Noch keine.',
    open: 'Weitere Veranstaltung verkaufen lassen',
    close: 'Nicht mehr verkaufen',
    archived: 'archiviert',
  },
  ofKeys: {
    title: 'Schlüssel',
    about:
      'Ein Partner weist sich mit einem Schlüssel aus. Sein Geheimnis wird einmal gezeigt, wenn der ' +
      'Schlüssel ausgestellt wird. Um einen Schlüssel ohne Lücke auszutauschen, erneuern Sie ihn: Der ' +
      'alte gilt noch einen Tag. Ein widerrufener Schlüssel wird binnen zwei Sekunden abgelehnt und ' +
      'kommt nicht zurück.',
    none: 'Noch kein Schlüssel.',
    key: 'Schlüssel',
    for: 'Für',
    live: 'echte Veranstaltungen',
    test: 'Testveranstaltungen',
    issued: 'Ausgestellt',
    ends: 'Endet',
    never: 'nie',
    used: 'Zuletzt benutzt',
    notUsed: 'noch nicht',
    issue: 'Schlüssel ausstellen',
    rotate: 'Erneuern',
    revoke: 'Widerrufen',
    states: { open: 'Offen', revoked: 'Widerrufen', expired: 'Abgelaufen' },
  },
  ofWebhooks: {
    title: 'Webhooks',
    none: 'Keine. Der Partner legt seine Webhooks selbst an, oder Sie tun es auf der Seite einer Veranstaltung.',
  },
  changes: 'Letzte Änderungen',
  allChanges: 'Alle Änderungen dieses Partners',
  byPartner: 'Was der Partner selbst geändert hat',
};
