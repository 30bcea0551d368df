import { counted } from '../counted.ts';
import type { about as en } from '../en/about.ts';

export const about: typeof en = {
  ticket: (title, event, taken, capacity) =>
    `${[title, event].filter(Boolean).join(' · ')}: ${taken} von ${capacity} Plätzen sind vergeben.`,
  newTicket: 'Es ist sofort im Verkauf, außer der Verkauf beginnt später.',
  capacity: (taken) => `Sie kann nicht kleiner sein als die Zahl der vergebenen Plätze: ${taken}.`,
  price: (taken) =>
    `${counted(taken, 'Platz ist verkauft; er behält seinen Preis', 'Plätze sind verkauft; sie behalten ihren Preis')}. ` +
    'Der neue Preis gilt für spätere Verkäufe.',
  sale: 'Außerhalb dieser Zeiten kann niemand einen Platz kaufen. Zurückgelegte Plätze können noch bestätigt werden.',
  texts: 'Partner zeigen diese Texte den Käufern.',
  waiting: 'Wird ein Platz frei, gilt das Angebot an die erste Person der Liste so lange.',
  stops: 'Partner können ab dieser Sekunde keinen weiteren Platz davon verkaufen.',
  held: 'Plätze in Warenkörben können noch gekauft werden, außer Sie beenden auch diese.',
  resumes: (left) => `Partner können es wieder verkaufen: ${counted(left, 'Platz ist', 'Plätze sind')} frei.`,
  stopsAll: (tickets) => `Der Verkauf stoppt für: ${tickets || 'kein Ticket; keines ist im Verkauf'}.`,
  resumesAll: (tickets) =>
    `Der Verkauf geht weiter für: ${tickets || 'kein Ticket; keines wurde mit den anderen gestoppt'}.`,
  allocation: (left) =>
    `${counted(left, 'Platz ist', 'Plätze sind')} frei. Reservierte Plätze kann nur dieser Partner verkaufen.`,
  allocationOf: (partner) => `Für ${partner}.`,
  newEvent:
    'Die Veranstaltung hat noch keine Tickets und keinen Termin: Bis Sie beides ergänzen, kann niemand etwas kaufen.',
  place: (sent) =>
    `${counted(sent, 'Person hat', 'Personen haben')} eine E-Mail mit dem jetzigen Termin und Ort. ` +
    'Eine neue geht erst hinaus, wenn Sie sie senden.',
  cancellation: 'Bis wann Partner stornieren können, und wer dazu eine E-Mail bekommt.',
  mail: 'Die Sprache der E-Mails an Teilnehmende, und wohin ihre Antworten gehen.',
  money: 'Die Währung bleibt, sobald ein Platz verkauft ist.',
  notifies: (sent) =>
    `Eine E-Mail damit geht an alle, die einen älteren Termin oder Ort bekamen: höchstens ` +
    `${counted(sent, 'Person', 'Personen')}.`,
  archive: 'Sie ist nicht mehr in den Listen. Registrierungen, E-Mails und Webhooks bleiben, wie sie sind.',
  restore: 'Sie ist wieder in den Listen.',
  grant: 'Der Partner kann die Veranstaltung sofort verkaufen, mit jedem offenen Schlüssel desselben Modus.',
  revoke: (partner, event) => `${partner} kann ${event} nicht mehr verkaufen.`,
  revokeKeeps: 'Verkaufte Plätze bleiben gültig.',
  move: 'Nur eine Veranstaltung ohne Registrierungen, Webhooks, E-Mails, Eingänge und Kontingente kann umziehen.',
  partner: (name, keys, events) =>
    `${name}: ${counted(keys, 'offener Schlüssel', 'offene Schlüssel')}, ` +
    `${counted(events, 'Veranstaltung', 'Veranstaltungen')}.`,
  newPartner:
    'Er kann nichts verkaufen, bis er einen Schlüssel hat und eine Veranstaltung für ihn offen ist.',
  enables: 'Seine Schlüssel gelten wieder, und seine Webhooks laufen weiter.',
  disables:
    'Innerhalb von 2 Sekunden wird jede Anfrage mit seinen Schlüsseln abgelehnt, und seine Webhooks stoppen. ' +
    'Was er verkauft hat, bleibt gültig.',
  key: (partner, mode, id) => `Schlüssel ${id} von ${partner}, ${mode}.`,
  lastUsed: (time) => `Zuletzt benutzt ${time} oder in der Stunde danach.`,
  neverUsed: 'Er wurde noch nie benutzt.',
  secretOnce:
    'Das Geheimnis wird einmal gezeigt, auf der nächsten Seite. Halten Sie einen sicheren Ort dafür bereit.',
  rotates: 'Der Partner bekommt einen zweiten Schlüssel. Der alte gilt, bis die gewählte Zeit vorbei ist.',
  revokesKey: 'Jede Anfrage damit wird ab dieser Sekunde abgelehnt. Das lässt sich nicht rückgängig machen.',
  webhook: (url, partner, event) => `${url} von ${partner}, für ${event}.`,
  webhookTest: 'Jetzt geht eine Testnachricht hinaus. Die Liste der Versuche zeigt, ob sie ankam.',
  webhookReplay: 'Alles seit dieser Zeit wird noch einmal gesendet, mit neuen Nachrichten-IDs.',
  webhookPause:
    'Bis Sie ihn fortsetzen, geht keine Nachricht hinaus. Nichts geht verloren, solange Einträge aufbewahrt werden.',
  webhookResume: 'Die Nachrichten gehen dort weiter, wo sie stoppten.',
  webhookDelete:
    'Seine Geheimnisse und die Liste der Versuche werden gelöscht. Das lässt sich nicht rückgängig machen.',
  mailEnable:
    'Alle bekommen ihren Pass per E-Mail. Wer schon bestätigt ist, bekommt ihn ebenfalls, außer Sie wählen ' +
    '„Nur für spätere Registrierungen“.',
  mailDisable: (waiting) =>
    `Niemand bekommt mehr eine E-Mail, und was wartet, wird verworfen: ${counted(waiting, 'E-Mail', 'E-Mails')}. ` +
    'Wer seinen Pass schon hat, bekommt ihn nach dem Einschalten nicht noch einmal.',
  mailPause: (waiting) =>
    `Bis Sie fortsetzen, wird keine weitere E-Mail gesendet. Was in der Schlange ist, wartet. Jetzt ` +
    `warten: ${waiting}.`,
  mailResume: (waiting) => `Was wartet, wird jetzt gesendet. Es warten: ${waiting}.`,
  mailResendAll: (sent) =>
    `${counted(sent, 'Person bekommt', 'Personen bekommen')} die E-Mail mit dem Pass noch einmal.`,
  mailTest: 'Sie zeigt, ob der Mailserver E-Mails dieses Dienstes annimmt.',
  mailUnsuppress:
    'Der Mailserver dieser Adresse hat E-Mails endgültig abgelehnt. Ab jetzt gehen wieder E-Mails an sie; ' +
    'die fehlende senden Sie bitte selbst erneut.',
  passVerify: 'Fügen Sie den Text des QR-Codes eines Passes ein.',
  passRotate: 'Neue Pässe werden mit dem neuen Schlüssel signiert. Vorhandene Pässe bleiben gültig.',
  passWithdraw: (key) =>
    `Alle Pässe, die Schlüssel ${key} signiert hat, werden sofort und endgültig ungültig. ` +
    'Senden Sie sie neu, bevor der Einlass beginnt.',
  newGate: 'Eingänge desselben Bereichs zählen dieselben Personen.',
  gate: (name, admitted, inside) => `${name}: hier hereingekommen: ${admitted}, jetzt drinnen: ${inside}.`,
  newDevice: 'Die nächste Seite zeigt einen Code, den das Gerät scannt. Er gilt 10 Minuten.',
  deviceCode: 'Ein früherer Code dieses Geräts gilt nicht mehr.',
  device: (name, received) => `${name}: ${counted(received, 'Scan ist', 'Scans sind')} angekommen.`,
  deviceMisses: (missing) =>
    `Scans, die nur auf dem Gerät sind: ${missing}. Es sendet sie, sobald es online ist.`,
  deviceRevoke:
    'Es lässt niemanden mehr herein und löscht seine Daten, sobald es online ist. Das lässt sich ' +
    'nicht rückgängig machen.',
  registration: (person, ticket, event) => `${person}: ${[ticket, event].filter(Boolean).join(', ')}.`,
  soldBy: (partner) => `Verkauft von ${partner}.`,
  wasAdmitted: 'Über diesen Platz kam schon eine Person herein.',
  resends: (person, address) => `${person} bekommt die E-Mail mit dem Pass noch einmal, an ${address}.`,
  resendsPass: 'Die E-Mail mit dem Pass wird noch einmal gesendet.',
  resendsOther: (kind) => `Die E-Mail „${kind}“ wird noch einmal gesendet.`,
  cancelled: (person, ticket, event) =>
    `Die Registrierung von ${person} für ${[event, `(${ticket})`].filter(Boolean).join(' ')} wird storniert.`,
  cancels:
    'Der Pass öffnet die Tür nicht mehr, und der Platz kann wieder verkauft werden. Das lässt sich ' +
    'nicht rückgängig machen.',
  cancelsPaid: (partner) => `${partner} erfährt es per Webhook und Liste und zahlt den Preis zurück.`,
  cancelsFree: (partner) => `${partner} erfährt es per Webhook und Liste.`,
  cancelsAdmitted: 'Über diesen Platz wurde schon jemand eingelassen. Der Bericht des Einlasses behält das.',
  corrects:
    'Der Pass bleibt gültig. Spätere E-Mails haben den neuen Text, jetzt wird keine gesendet; ' +
    'senden Sie den Pass bei Bedarf neu.',
  replaces: (person) =>
    `${person} verliert den Platz, und der bisherige Pass öffnet die Tür nicht mehr. Die neue Person bekommt einen ` +
    'eigenen Pass per E-Mail, wenn die E-Mails der Veranstaltung eingeschaltet sind.',
  guestAdd:
    'Der Gast bekommt einen Platz des Tickets, auch vor und nach dem Verkauf, und den Pass per E-Mail, wenn die ' +
    'E-Mails der Veranstaltung eingeschaltet sind. Bezahlt wird nichts.',
  guestImport:
    'Ein Probelauf sagt, was aus jeder Zeile würde, und registriert niemanden. Niemand wird doppelt registriert, ' +
    'auch wenn Sie die Liste noch einmal senden.',
  redrives: (batches, registrations) =>
    `Noch einmal versucht: ${counted(batches, 'gescheiterter', 'gescheiterte')} Stapel mit ` +
    `${counted(registrations, 'Registrierung', 'Registrierungen')}.`,
  matches: (count) => `${counted(count, 'Registrierung', 'Registrierungen')}.`,
  job: (done, total) => `${done} von ${total} sind erledigt.`,
  jobPause:
    'Der Auftrag hält nach den Registrierungen an, die er gerade bearbeitet, und läuft weiter, wann Sie wollen.',
  jobResume: 'Der Auftrag läuft dort weiter, wo er angehalten hat.',
  jobAbort: (left) =>
    'Der Auftrag endet jetzt und kann später nicht weiterlaufen. Was er getan hat, bleibt getan; ' +
    `${counted(left, 'Registrierung bleibt, wie sie ist', 'Registrierungen bleiben, wie sie sind')}.`,
  operator: (name, role) => `${name}: ${role} für alle Veranstaltungen.`,
  newOperator: 'Ein Passwort wird einmal gezeigt, auf der nächsten Seite. Übergeben Sie es auf sicherem Weg.',
  role: 'Es gilt sofort, auch in offenen Sitzungen.',
  operatorEmail: 'Mit dieser Adresse meldet sich die Person beim Identitätsanbieter an.',
  operatorDisable: 'Alle Sitzungen der Person enden, und sie kann sich nicht mehr anmelden.',
  operatorEnable: 'Die Person kann sich wieder anmelden.',
  resetPassword:
    'Das alte Passwort gilt nicht mehr, und alle Sitzungen enden. Das neue wird einmal gezeigt, auf ' +
    'der nächsten Seite.',
  signOut: 'Alle Sitzungen der Person enden. Sie kann sich wieder anmelden.',
  takesRole:
    'Die Person verliert, was die Rolle für diese Veranstaltung erlaubt. Eine Rolle für alle bleibt.',
  token: (name) => `Das Token ${name}.`,
  session: (name) => `Eine Sitzung von ${name}.`,
  accessRevoke: 'Der Zugang endet sofort. Das lässt sich nicht rückgängig machen.',
};
