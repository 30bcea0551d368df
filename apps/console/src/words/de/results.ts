import type { results as en } from '../en/results.ts';

export const results: typeof en = {
  guestAdded: 'Der Gast ist registriert.',
  guestKnown: 'Dieser Gast war schon registriert. Nichts hat sich geändert.',
  dryRun: 'Das war ein Probelauf: Niemand wurde registriert.',
  imported: 'Die Liste ist registriert.',
  rowsToLookAt: 'Zeilen zum Nachsehen',
  line: 'Zeile',
  outcome: 'Ergebnis',
  reason: 'Grund',
  found: 'Gefunden',
  passValid: 'Dieser Pass ist gültig',
  passInvalid: 'Dieser Pass ist nicht gültig',
  qrOfCode: 'QR-Code des Codes darüber',
};
