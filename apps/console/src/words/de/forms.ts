import type { forms as en } from '../en/forms.ts';

export const forms: typeof en = {
  save: 'Speichern',
  cancel: 'Zurück',
  mayBeEmpty: 'kann leer bleiben',
  notValid: 'Ungültig',
  choose: 'Auswählen …',
  none: 'keine Angabe',
  atOnce: 'er endet sofort',
  emptyMeans: 'Leer:',
  unchanged: 'Nichts wurde geändert: Jedes Feld hat seinen alten Wert.',
  done: 'Erledigt',
  before: 'Vorher',
  after: 'Jetzt',
  setting: 'Einstellung',
  undo: 'Rückgängig machen',
  undoPrice: 'Plätze, die inzwischen verkauft sind, behalten den Preis, zu dem sie verkauft wurden.',
  undoHolds: 'Beendete Warenkörbe bleiben beendet.',
  undone: 'Der alte Wert gilt wieder.',
  continue: 'Weiter',
  keepSecret: 'Bewahren Sie das Geheimnis jetzt auf: Es wird nicht noch einmal gezeigt.',
  times: (zone) => `Zeiten gelten in der Zone ${zone}.`,
  timesOfZone: 'Zeiten gelten in der Zone dieses Formulars. Ändern Sie die Zone, bleiben die Uhrzeiten.',
  noSuchTime: 'ein Datum mit Uhrzeit, zum Beispiel 2026-12-04 11:00',
  sessionEnded:
    'Ihre Sitzung ist abgelaufen. Melden Sie sich an: Ihre Eingaben bleiben erhalten, und das ' +
    'Formular kommt ausgefüllt zurück.',
  typeNumber: (count) => `Geben Sie zur Bestätigung die Zahl ${count} ein`,
  wrongNumber: 'die Zahl von oben, damit nichts Großes aus Versehen geschieht',
};
