import type { peopleFields as enFields, peopleOperations as enOperations } from '../en/people-forms.ts';

export const peopleOperations: typeof enOperations = {
  mailResend: { link: 'Pass erneut senden', title: 'Pass erneut senden', button: 'Jetzt senden' },
  registrationCorrect: { link: 'Korrigieren', title: 'Name oder Adresse korrigieren', button: 'Speichern' },
  registrationReplace: {
    link: 'Platz jemand anderem geben',
    title: 'Platz jemand anderem geben',
    button: 'Dieser Person den Platz geben',
  },
  registrationCancel: {
    link: 'Stornieren',
    title: 'Registrierung stornieren',
    button: 'Registrierung stornieren',
  },
  guestAdd: { link: 'Gast registrieren', title: 'Gast registrieren', button: 'Gast registrieren' },
  guestImport: { link: 'Gästeliste importieren', title: 'Gästeliste importieren', button: 'Importieren' },
  passVerify: { link: 'Einen Pass prüfen', title: 'Einen Pass prüfen', button: 'Prüfen' },
  mailEnable: { link: 'E-Mails einschalten', title: 'E-Mails einschalten', button: 'E-Mails einschalten' },
  mailPause: { link: 'E-Mails pausieren', title: 'E-Mails pausieren', button: 'E-Mails pausieren' },
  mailResume: { link: 'E-Mails fortsetzen', title: 'E-Mails fortsetzen', button: 'E-Mails fortsetzen' },
  mailDisable: { link: 'E-Mails ausschalten', title: 'E-Mails ausschalten', button: 'E-Mails ausschalten' },
  mailTest: { link: 'Test-E-Mail senden', title: 'Test-E-Mail senden', button: 'Senden' },
  mailResendAll: {
    link: 'Alle Pässe erneut senden',
    title: 'Alle Pässe erneut senden',
    button: 'Alle Pässe erneut senden',
  },
  mailUnsuppress: {
    link: 'Wieder an diese Adresse senden',
    title: 'Wieder an diese Adresse senden',
    button: 'Wieder an sie senden',
  },
  eventNotifyHolders: {
    link: 'Neuen Termin oder Ort mitteilen',
    title: 'Neuen Termin oder Ort mitteilen',
    button: 'E-Mails senden',
  },
  jobCancel: { link: 'Alle stornieren …', title: 'Registrierungen stornieren', button: 'Alle stornieren' },
  jobResend: { link: 'Pässe erneut senden …', title: 'Pässe erneut senden', button: 'Allen senden' },
  eventCallOff: {
    link: 'Veranstaltung absagen …',
    title: 'Veranstaltung absagen',
    button: 'Veranstaltung absagen',
  },
  jobPause: { link: 'Pausieren', title: 'Auftrag pausieren', button: 'Pausieren' },
  jobResume: { link: 'Fortsetzen', title: 'Auftrag fortsetzen', button: 'Fortsetzen' },
  jobAbort: { link: 'Hier beenden …', title: 'Auftrag vorzeitig beenden', button: 'Hier beenden' },
};

export const peopleFields: typeof enFields = {
  ticketId: { label: 'Ticket', hint: '' },
  partnerId: { label: 'Partner', hint: '' },
  eventId: { label: 'Veranstaltung', hint: '' },
  fullName: { label: 'Name', hint: 'Wie auf dem Pass, zum Beispiel Anna Groß' },
  emailAddress: { label: 'E-Mail-Adresse', hint: 'Dorthin geht der Pass, zum Beispiel anna@example.com' },
  phoneNumber: { label: 'Telefon', hint: 'Mit Ländervorwahl, zum Beispiel +49 170 1234567' },
  reference: { label: 'Bestellung', hint: 'Eine eigene Nummer, zum Beispiel VIP-12' },
  to: { label: 'E-Mail-Adresse', hint: 'Ihre eigene, zum Beispiel ann@example.com' },
  fromNow: {
    label: 'Nur spätere Registrierungen',
    hint: 'Ja: Wer schon bestätigt ist, bekommt keine E-Mail',
  },
  csv: {
    label: 'Gästeliste',
    hint:
      'Fügen Sie sie als CSV ein. Die erste Zeile nennt die Spalten: name, email und wahlweise phone, ticket und ' +
      'reference',
  },
  dryRun: {
    label: 'Nur ausprobieren',
    hint: 'Ja: Zeigt, was aus jeder Zeile würde, und registriert niemanden',
  },
  map: { label: 'Andere Spaltennamen', hint: 'Zum Beispiel Vorname+Nachname=fullName' },
  token: { label: 'Pass', hint: 'Der Text des QR-Codes. Er beginnt mit FG2' },
  corrected: { label: 'Korrigiert' },
  mail: { label: 'E-Mails' },
  replacedBy: { label: 'Neue Registrierung' },
  wasAdmitted: { label: 'War eingelassen' },
};

export const peopleValues: Record<string, string> = {
  name: 'Name',
  'e-mail address': 'E-Mail-Adresse',
  queued: 'eingereiht',
  active: 'eingeschaltet',
  paused: 'pausiert',
  off: 'ausgeschaltet',
};
