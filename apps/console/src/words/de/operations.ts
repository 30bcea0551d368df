import type { OperationWords } from '../index.ts';
import { doorOperations } from './door.ts';

/** Operations and their parts, by their name. */
export const operations: Record<string, OperationWords> = {
  eventCreate: {
    link: 'Veranstaltung anlegen',
    title: 'Eine Veranstaltung anlegen',
    button: 'Veranstaltung anlegen',
  },
  eventUpdate: {
    link: 'Einstellungen ändern',
    title: 'Einstellungen einer Veranstaltung ändern',
    button: 'Speichern',
  },
  'eventUpdate/place': {
    link: 'Termin und Ort ändern',
    title: 'Termin und Ort einer Veranstaltung ändern',
    button: 'Speichern',
  },
  'eventUpdate/cancellation': {
    link: 'Stornierung ändern',
    title: 'Regeln der Stornierung ändern',
    button: 'Speichern',
  },
  'eventUpdate/mail': {
    link: 'E-Mail-Einstellungen ändern',
    title: 'E-Mails einer Veranstaltung einstellen',
    button: 'Speichern',
  },
  'eventUpdate/money': {
    link: 'Währung ändern',
    title: 'Währung einer Veranstaltung ändern',
    button: 'Speichern',
  },
  eventNotifyHolders: {
    link: 'Neuen Termin und Ort senden',
    title: 'Neuen Termin und Ort an Teilnehmende senden',
    button: 'An Teilnehmende senden',
  },
  eventArchive: { link: 'Archivieren', title: 'Eine Veranstaltung archivieren', button: 'Archivieren' },
  eventRestore: {
    link: 'Aus dem Archiv holen',
    title: 'Eine Veranstaltung aus dem Archiv holen',
    button: 'Aus dem Archiv holen',
  },
  eventGrant: {
    link: 'Partner verkaufen lassen',
    title: 'Einen Partner eine Veranstaltung verkaufen lassen',
    button: 'Verkaufen lassen',
  },
  eventRevoke: {
    link: 'Verkauf entziehen',
    title: 'Einem Partner den Verkauf einer Veranstaltung entziehen',
    button: 'Verkauf entziehen',
  },
  eventMove: {
    link: 'In anderen Shard verschieben',
    title: 'Eine Veranstaltung in einen anderen Shard verschieben',
    button: 'Verschieben',
  },
  eventCallOff: { link: 'Absagen', title: 'Eine Veranstaltung absagen', button: 'Veranstaltung absagen' },
  ticketCreate: { link: 'Ticket anlegen', title: 'Ein Ticket anlegen', button: 'Ticket anlegen' },
  ticketUpdate: { link: 'Ändern', title: 'Ein Ticket ändern', button: 'Speichern' },
  'ticketUpdate/capacity': {
    link: 'Kapazität ändern',
    title: 'Kapazität eines Tickets ändern',
    button: 'Speichern',
  },
  'ticketUpdate/price': { link: 'Preis ändern', title: 'Preis eines Tickets ändern', button: 'Speichern' },
  'ticketUpdate/sale': {
    link: 'Verkaufszeit ändern',
    title: 'Verkaufszeit eines Tickets ändern',
    button: 'Speichern',
  },
  'ticketUpdate/texts': { link: 'Texte ändern', title: 'Texte eines Tickets ändern', button: 'Speichern' },
  'ticketUpdate/waiting': {
    link: 'Warteliste ändern',
    title: 'Warteliste eines Tickets ändern',
    button: 'Speichern',
  },
  'ticketUpdate/switch': {
    link: 'Verkauf stoppen',
    title: 'Verkauf eines Tickets stoppen',
    button: 'Verkauf stoppen',
  },
  'ticketUpdate/resume': {
    link: 'Verkauf fortsetzen',
    title: 'Verkauf eines Tickets fortsetzen',
    button: 'Verkauf fortsetzen',
  },
  ticketAllocate: {
    link: 'Plätze reservieren',
    title: 'Plätze für einen Partner reservieren oder seinen Verkauf begrenzen',
    button: 'Speichern',
  },
  ticketStopAll: {
    link: 'Verkauf ganz stoppen',
    title: 'Verkauf aller Tickets stoppen',
    button: 'Verkauf ganz stoppen',
  },
  ticketResumeAll: {
    link: 'Ganzen Verkauf fortsetzen',
    title: 'Verkauf aller gestoppten Tickets fortsetzen',
    button: 'Ganzen Verkauf fortsetzen',
  },
  registrationSearch: {
    link: 'Registrierungen auflisten',
    title: 'Passende Registrierungen auflisten',
    button: 'Auflisten',
  },
  registrationCount: {
    link: 'Registrierungen zählen',
    title: 'Passende Registrierungen zählen',
    button: 'Zählen',
  },
  attendeeExportBy: {
    link: 'Registrierungen herunterladen',
    title: 'Passende Registrierungen herunterladen',
    button: 'Herunterladen',
  },
  attendeeFind: { link: 'Personen suchen', title: 'Personen suchen', button: 'Suchen' },
  registrationCancel: {
    link: 'Registrierung stornieren',
    title: 'Eine Registrierung stornieren',
    button: 'Registrierung stornieren',
  },
  registrationCorrect: {
    link: 'Name oder Adresse berichtigen',
    title: 'Name oder Adresse einer Person berichtigen',
    button: 'Speichern',
  },
  registrationReplace: {
    link: 'Platz weitergeben',
    title: 'Einen Platz an eine andere Person weitergeben',
    button: 'Platz weitergeben',
  },
  guestAdd: { link: 'Gast hinzufügen', title: 'Einen Gast registrieren', button: 'Gast registrieren' },
  guestImport: { link: 'Gästeliste einlesen', title: 'Gäste einer Liste registrieren', button: 'Einlesen' },
  batchRedrive: {
    link: 'Gescheiterte Stapel wiederholen',
    title: 'Gescheiterte Stapel wiederholen',
    button: 'Wiederholen',
  },
  partnerCreate: { link: 'Partner anlegen', title: 'Einen Partner anlegen', button: 'Partner anlegen' },
  partnerContact: { link: 'Kontakt ändern', title: 'Kontakt eines Partners ändern', button: 'Speichern' },
  partnerLimit: {
    link: 'Anfragen begrenzen',
    title: 'Anfragen eines Partners begrenzen',
    button: 'Speichern',
  },
  partnerWeigh: {
    link: 'Anteil ändern',
    title: 'Anteil eines Partners bei Andrang ändern',
    button: 'Speichern',
  },
  partnerDisable: { link: 'Sperren', title: 'Einen Partner sperren', button: 'Partner sperren' },
  'partnerDisable/enable': {
    link: 'Freigeben',
    title: 'Einen Partner wieder freigeben',
    button: 'Partner freigeben',
  },
  keyIssue: {
    link: 'Schlüssel ausstellen',
    title: 'Einen geheimen Schlüssel ausstellen',
    button: 'Schlüssel ausstellen',
  },
  keyRotate: {
    link: 'Schlüssel ersetzen',
    title: 'Einen Schlüssel durch einen neuen ersetzen',
    button: 'Neuen Schlüssel ausstellen',
  },
  keyRevoke: {
    link: 'Schlüssel widerrufen',
    title: 'Einen Schlüssel widerrufen',
    button: 'Schlüssel widerrufen',
  },
  webhookCreate: {
    link: 'Webhook anlegen',
    title: 'Einen Webhook eines Partners anlegen',
    button: 'Webhook anlegen',
  },
  webhookUpdate: { link: 'Webhook ändern', title: 'Einen Webhook ändern', button: 'Speichern' },
  webhookTest: {
    link: 'Testnachricht senden',
    title: 'Eine Testnachricht an einen Webhook senden',
    button: 'Senden',
  },
  webhookReplay: {
    link: 'Erneut senden seit …',
    title: 'Nachrichten eines Webhooks erneut senden',
    button: 'Erneut senden',
  },
  webhookRotate: {
    link: 'Neues Geheimnis',
    title: 'Ein neues Geheimnis eines Webhooks erzeugen',
    button: 'Geheimnis erzeugen',
  },
  webhookPause: { link: 'Webhook anhalten', title: 'Einen Webhook anhalten', button: 'Anhalten' },
  webhookResume: { link: 'Webhook fortsetzen', title: 'Einen Webhook fortsetzen', button: 'Fortsetzen' },
  webhookDelete: { link: 'Webhook löschen', title: 'Einen Webhook löschen', button: 'Webhook löschen' },
  mailEnable: {
    link: 'E-Mails einschalten',
    title: 'E-Mails an Teilnehmende senden',
    button: 'E-Mails einschalten',
  },
  mailDisable: {
    link: 'E-Mails ausschalten',
    title: 'Keine E-Mails an Teilnehmende senden',
    button: 'E-Mails ausschalten',
  },
  mailPause: { link: 'E-Mails anhalten', title: 'E-Mails einer Veranstaltung anhalten', button: 'Anhalten' },
  mailResume: {
    link: 'E-Mails fortsetzen',
    title: 'E-Mails einer Veranstaltung fortsetzen',
    button: 'Fortsetzen',
  },
  mailResend: { link: 'Pass erneut senden', title: 'Pass erneut senden', button: 'Jetzt senden' },
  'mailResend/other': {
    link: 'Erneut senden',
    title: 'Einer Person eine E-Mail erneut senden',
    button: 'Jetzt senden',
  },
  mailResendAll: {
    link: 'Alle Pässe erneut senden',
    title: 'Pässe einer Veranstaltung erneut senden',
    button: 'Alle erneut senden',
  },
  mailTest: { link: 'Test-E-Mail senden', title: 'Eine Test-E-Mail senden', button: 'Senden' },
  mailUnsuppress: {
    link: 'E-Mails wieder erlauben',
    title: 'Wieder an eine Adresse senden',
    button: 'E-Mails erlauben',
  },
  passVerify: { link: 'Pass prüfen', title: 'Einen Pass prüfen', button: 'Prüfen' },
  passRotate: {
    link: 'Neuer Signaturschlüssel',
    title: 'Einen neuen Schlüssel für Pässe erzeugen',
    button: 'Schlüssel erzeugen',
  },
  passWithdraw: {
    link: 'Schlüssel zurückziehen',
    title: 'Alle Pässe eines Signaturschlüssels ungültig machen',
    button: 'Diese Pässe ungültig machen',
  },
  jobCancelPreview: {
    link: 'Viele Registrierungen stornieren',
    title: 'Registrierungen zum Stornieren auswählen',
    button: 'Zeigen, was storniert würde',
  },
  jobCancel: {
    link: 'Diese Registrierungen stornieren',
    title: 'Alle passenden Registrierungen stornieren',
    button: 'Registrierungen stornieren',
  },
  jobResendPreview: {
    link: 'Viele Pässe erneut senden',
    title: 'Pässe zum erneuten Senden auswählen',
    button: 'Zeigen, wer einen bekäme',
  },
  jobResend: {
    link: 'Diese Pässe erneut senden',
    title: 'Alle passenden Pässe erneut senden',
    button: 'Pässe senden',
  },
  jobPause: { link: 'Anhalten', title: 'Einen Auftrag anhalten', button: 'Auftrag anhalten' },
  jobResume: {
    link: 'Fortsetzen',
    title: 'Einen angehaltenen Auftrag fortsetzen',
    button: 'Auftrag fortsetzen',
  },
  jobAbort: { link: 'Abbrechen', title: 'Einen Auftrag abbrechen', button: 'Auftrag abbrechen' },
  operatorCreate: {
    link: 'Person hinzufügen',
    title: 'Eine Person mit Zugang hinzufügen',
    button: 'Person hinzufügen',
  },
  operatorUpdate: { link: 'Ändern', title: 'Zugang einer Person ändern', button: 'Speichern' },
  'operatorUpdate/role': { link: 'Rolle ändern', title: 'Rolle einer Person ändern', button: 'Speichern' },
  'operatorUpdate/email': {
    link: 'E-Mail-Adresse ändern',
    title: 'E-Mail-Adresse einer Person ändern',
    button: 'Speichern',
  },
  'operatorUpdate/disable': {
    link: 'Sperren',
    title: 'Zugang einer Person sperren',
    button: 'Zugang sperren',
  },
  'operatorUpdate/enable': {
    link: 'Freigeben',
    title: 'Zugang einer Person wieder freigeben',
    button: 'Zugang freigeben',
  },
  operatorResetPassword: {
    link: 'Passwort zurücksetzen',
    title: 'Ein neues Passwort einer Person setzen',
    button: 'Neues Passwort setzen',
  },
  operatorSignOut: { link: 'Abmelden', title: 'Eine Person überall abmelden', button: 'Sitzungen beenden' },
  operatorGrant: {
    link: 'Rolle geben',
    title: 'Einer Person eine Rolle für eine Veranstaltung geben',
    button: 'Rolle geben',
  },
  operatorRevoke: {
    link: 'Rolle nehmen',
    title: 'Einer Person die Rolle für eine Veranstaltung nehmen',
    button: 'Rolle nehmen',
  },
  tokenCreate: {
    link: 'Token ausstellen',
    title: 'Ein Token für eine Maschine ausstellen',
    button: 'Token ausstellen',
  },
  accessRevoke: {
    link: 'Beenden',
    title: 'Eine Sitzung beenden oder ein Token widerrufen',
    button: 'Zugang beenden',
  },
  ...doorOperations,
};
