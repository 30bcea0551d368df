import { doorRules } from './door.ts';

/** Rules and reasons of operations in German, by their English text. */
export const rules: Record<string, string> = {
  ...doorRules,
  'on a Citus cluster, only the command "floodgate pass rotate" can create a key':
    'Auf einem Citus-Cluster legt nur der Befehl „floodgate pass rotate“ einen Schlüssel an',
  // Fields.
  'true or false': 'ja oder nein',
  'a time, or none': 'ein Datum mit Uhrzeit, oder leer',
  'a time with an offset': 'ein Datum mit Uhrzeit',
  'a time in the future, or never': 'eine Zeit in der Zukunft, oder leer für immer',
  'a time in the next ten years': 'eine Zeit in den nächsten zehn Jahren',
  'a time such as 2026-11-21T09:00:00Z': 'ein Datum mit Uhrzeit, zum Beispiel 21.11.2026, 09:00',
  'an e-mail address': 'eine E-Mail-Adresse',
  'an e-mail address, or none': 'eine E-Mail-Adresse, oder leer',
  'an address, or its digest, from the list': 'eine Adresse, oder ihre Prüfsumme aus der Liste',
  'a time zone such as Europe/Berlin, or none': 'eine Zeitzone wie Europe/Berlin, oder leer',
  'the ISO 4217 code of a currency, such as EUR, or none; prices have the decimals of the currency, at most 2':
    'der Code einer Währung nach ISO 4217, zum Beispiel EUR, oder leer; Preise haben die Nachkommastellen der ' +
    'Währung, höchstens 2',
  '2 to 8 of A–Z and 0–9, starting with a letter': '2 bis 8 Zeichen aus A–Z und 0–9, zuerst ein Buchstabe',
  'live or test': 'echt oder Test',
  'allow, reject or return_existing': 'zulassen, ablehnen oder die vorhandene geben',
  'event or ticket': 'je Veranstaltung oder je Ticket',
  'en or de': 'Englisch oder Deutsch',
  'json, csv or excel': 'JSON, CSV oder Excel',
  'csv, excel or ndjson': 'CSV, Excel oder JSON-Zeilen',
  'comma, semicolon or tab': 'Komma, Semikolon oder Tabulator',
  'viewer, door-manager, operator or owner': 'Lesen, Einlassleitung, Bearbeiten oder Eigentum',
  'viewer, door-manager, operator or owner, for all events; none: for named events only':
    'eine Rolle für alle Veranstaltungen, oder keine: nur für einzelne',
  'held, reserved, confirmed, failed, cancelled':
    'zurückgelegt, reserviert, bestätigt, gescheitert oder storniert',
  'confirmed, cancelled, failed, held or waiting':
    'bestätigt, storniert, gescheitert, zurückgelegt oder wartend',
  'sent, waiting, undeliverable, suppressed, none': 'gesendet, wartend, unzustellbar, gesperrt oder keine',
  'once, re-entry, any': 'einmal, nach dem Verlassen wieder, oder immer',
  'confirmation, event-updated, cancellation':
    'die E-Mail mit dem Pass, die über Termin oder Ort, oder die über die Stornierung',
  'ids, separated by commas': 'eine Auswahl aus der Liste',
  'ids, separated by commas, or none for all': 'eine Auswahl aus der Liste, oder leer für alle',
  'ids of gates of the event': 'Eingänge dieser Veranstaltung',
  'ids of tickets of the event, or none for all': 'Tickets dieser Veranstaltung, oder leer für alle',
  'the ids of 1 to 1000 events, or nothing for all': '1 bis 1000 Veranstaltungen, oder leer für alle',
  '16 of 0–9 and a–f': '16 Zeichen aus 0–9 und a–f',
  '16 of 0–9 and a–f: the part of a secret key between "fg_" or "fg_test_" and the next "_"; never send the whole key':
    '16 Zeichen aus 0–9 und a–f: der Teil eines geheimen Schlüssels zwischen „fg_“ oder „fg_test_“ und dem ' +
    'nächsten „_“; senden Sie nie den ganzen Schlüssel',
  UUIDs: 'eine Auswahl aus der Liste (UUIDs)',
  'the UUID of a job': 'ein Auftrag aus der Liste',
  'The id of the webhook, a UUID': 'ein Webhook aus der Liste',
  'milliseconds, from 0 to 315360000000': 'eine Dauer aus der Liste',
  'hours from 1 to 336, or none': 'Stunden von 1 bis 336, oder leer',
  'columns of another name and their field, such as Vorname+Nachname=fullName':
    'Spalten mit anderer Überschrift und ihr Feld, zum Beispiel Vorname+Nachname=fullName',
  // Webhooks.
  'The https URL that receives the messages, at most 2048 characters, without user name and password':
    'die https-Adresse, die Nachrichten empfängt, höchstens 2048 Zeichen, ohne Benutzername und Passwort',
  'Required. The https URL that receives the messages, at most 2048 characters, without user name and password':
    'notwendig: die https-Adresse, die Nachrichten empfängt, höchstens 2048 Zeichen, ohne Benutzername und Passwort',
  'an https URL of at most 2048 characters, without a user and a password':
    'eine https-Adresse mit höchstens 2048 Zeichen, ohne Benutzername und Passwort',
  'A note for yourself: at most 255 characters, no control characters':
    'eine Notiz mit höchstens 255 Zeichen, ohne Steuerzeichen',
  'The types of entries to send, each at most once. Default: all types':
    'was gesendet wird, jedes höchstens einmal; ohne Auswahl: alles',
  ['The maximum number of entries in one message, from 1 to 500. Default: 100. A message with several ' +
  'entries has at most 20 KiB']:
    'höchstens so viele Einträge in einer Nachricht, von 1 bis 500; ohne Angabe: 100. Eine Nachricht mit mehreren ' +
    'Einträgen hat höchstens 20 KiB',
  'Additional fields of each registration: `partnerReference`, your own reference. Default: none':
    'weitere Angaben zu jeder Registrierung: die Referenz des Partners; ohne Auswahl: keine',
  'First entry to send. start (default): the oldest entry that is kept. now: the next entry':
    'der erste Eintrag: der älteste, der aufbewahrt ist (Standard), oder der nächste',
  ['true: no message is sent until you resume the webhook, so you can configure the secret in your ' +
  'receiver first. Default: false']:
    'ja: Bis der Webhook fortgesetzt wird, geht keine Nachricht hinaus; so kann der Empfänger zuerst das Geheimnis ' +
    'eintragen. Standard: nein',
  'Number of hours during which messages are also signed with the previous secret, from 0 to 720. Default: 24':
    'Stunden, in denen Nachrichten auch mit dem alten Geheimnis signiert sind, von 0 bis 720. Standard: 24',
  'text without unpaired surrogates': 'ein Text aus gültigen Unicode-Zeichen',
  // Guests.
  'Required, 1 to 255 characters after trimming, one of them visible, no control or text direction characters inside':
    'notwendig, 1 bis 255 Zeichen, eines davon sichtbar, ohne Steuerzeichen und Zeichen der Schreibrichtung',
  ['Required, an e-mail address of at most 254 characters, with only ASCII before the @ and a dot in ' +
  'the domain after it']:
    'notwendig, eine E-Mail-Adresse mit höchstens 254 Zeichen, vor dem @ nur ASCII, danach eine Domain mit Punkt',
  'Optional, at most 32 characters of any kind, no control characters':
    'höchstens 32 Zeichen, ohne Steuerzeichen',
  ['Optional, your own reference such as an order number: 1 to 64 characters, no control or text ' +
  'direction characters. Several registrations may have the same']:
    'eine eigene Referenz wie eine Bestellnummer: 1 bis 64 Zeichen, ohne Steuerzeichen und Zeichen der ' +
    'Schreibrichtung. Mehrere Registrierungen können dieselbe haben',
  'one visible character at least, and no text direction characters inside':
    'mindestens ein sichtbares Zeichen, ohne Zeichen der Schreibrichtung',
  // Checks.
  'nothing to change; give at least one setting': 'nichts zu ändern; ändern Sie mindestens eine Einstellung',
  'nothing to correct; give a name or an address':
    'nichts zu berichtigen; geben Sie einen Namen oder eine Adresse an',
  'At least one of these fields is required: url, description, types, entriesPerMessage, include':
    'nichts zu ändern; ändern Sie mindestens ein Feld',
  'the sale must start before it ends': 'der Verkauf muss beginnen, bevor er endet',
  'the event must start before it ends': 'die Veranstaltung muss beginnen, bevor sie endet',
  'the gate must open before it closes': 'der Eingang muss öffnen, bevor er schließt',
  'a name for partners, not an e-mail address': 'ein Name für Partner, keine E-Mail-Adresse',
  'only when the ticket is taken off sale': 'nur, wenn der Verkauf des Tickets stoppt',
  'at least the number of reserved seats': 'mindestens die Zahl der reservierten Plätze',
  'only with reserved seats': 'nur mit reservierten Plätzen',
  'later than soldFrom': 'später als „Verkauft ab“',
  'at least one letter or digit': 'mindestens ein Buchstabe oder eine Ziffer',
  'at least 3 digits': 'mindestens 3 Ziffern',
  'only with the scope attendees:read': 'nur mit dem Recht, Namen und Adressen zu sehen',
  'another state; these are cancelled already': 'ein anderer Zustand; diese sind schon storniert',
  'confirmed; only confirmed registrations have a pass':
    'bestätigt; nur bestätigte Registrierungen haben einen Pass',
  'a text, or an event': 'ein Text oder eine Veranstaltung',
  'with a letter or a digit': 'mit einem Buchstaben oder einer Ziffer',
  'not with after': 'nicht zusammen mit „Weiter nach“',
  'not valid': 'nicht gültig',
  'the file is empty; its first row names the columns':
    'die Liste ist leer; ihre erste Zeile nennt die Spalten',
  // Not found.
  'no such event': 'Diese Veranstaltung gibt es nicht.',
  'no such ticket': 'Dieses Ticket gibt es nicht.',
  'no such partner': 'Diesen Partner gibt es nicht.',
  'no such registration': 'Diese Registrierung gibt es nicht.',
  'no such pass': 'Diesen Pass gibt es nicht.',
  'no such webhook': 'Diesen Webhook gibt es nicht.',
  'no such gate': 'Diesen Eingang gibt es nicht.',
  'no such device': 'Dieses Gerät gibt es nicht.',
  'no such key': 'Diesen Schlüssel gibt es nicht.',
  'no such job': 'Diesen Auftrag gibt es nicht.',
  'no such shard': 'Diesen Shard gibt es nicht.',
  'no such operator': 'Diese Person gibt es nicht.',
  'no open session or token has this id':
    'Diese Sitzung oder dieses Token gibt es nicht, oder der Zugang ist beendet.',
  'no failed batch has this id': 'Diesen gescheiterten Stapel gibt es nicht.',
  'this operator has no role for this event': 'Diese Person hat keine Rolle für diese Veranstaltung.',
  // Not possible.
  'a ticket has either allocations or a waiting list':
    'Ein Ticket hat entweder Kontingente oder eine Warteliste.',
  'the event is archived; restore it first': 'Die Veranstaltung ist im Archiv; holen Sie sie zuerst heraus.',
  'the event is called off, so it sells nothing any more':
    'Die Veranstaltung ist abgesagt und verkauft nichts mehr.',
  'the event is over': 'Die Veranstaltung ist vorbei.',
  'tickets of this event are on sale; take them off sale first':
    'Tickets dieser Veranstaltung sind im Verkauf; stoppen Sie ihn zuerst.',
  'the event has registrations, or one of its tickets was sold out, so it stays in its shard':
    'Die Veranstaltung hat Registrierungen, oder ein Ticket war ausverkauft; deshalb bleibt sie in ihrem Shard.',
  'the event has allocations, so it stays in its shard':
    'Die Veranstaltung hat Kontingente; deshalb bleibt sie in ihrem Shard.',
  'the event has webhooks or e-mails, so it stays in its shard':
    'Die Veranstaltung hat Webhooks oder E-Mails; deshalb bleibt sie in ihrem Shard.',
  'the event has waiting lists with entries, so it stays in its shard':
    'Die Veranstaltung hat Wartelisten mit Einträgen; deshalb bleibt sie in ihrem Shard.',
  'the event has gates, so it stays in its shard':
    'Die Veranstaltung hat Eingänge; deshalb bleibt sie in ihrem Shard.',
  'a partner of this name already exists': 'Einen Partner mit diesem Namen gibt es schon.',
  "this partner registers the operator's own guests, so it cannot be disabled":
    'Dieser Partner registriert Ihre eigenen Gäste und kann nicht gesperrt werden.',
  "this partner registers the operator's own guests, so it has no keys":
    'Dieser Partner registriert Ihre eigenen Gäste und hat keine Schlüssel.',
  'no such key, or it is revoked or expired':
    'Diesen Schlüssel gibt es nicht, oder er ist widerrufen oder abgelaufen.',
  'this partner already has the maximum number of webhooks':
    'Dieser Partner hat schon die größte Zahl von Webhooks.',
  'the operator has paused this webhook': 'Dieser Webhook wurde hier angehalten.',
  'e-mails are already enabled; after a pause, use resume':
    'E-Mails sind schon eingeschaltet; nach dem Anhalten setzen Sie sie fort.',
  'e-mails of this event are not enabled': 'E-Mails dieser Veranstaltung sind nicht eingeschaltet.',
  'an e-mail is being sent now; try again in a moment':
    'Eine E-Mail wird gerade gesendet; versuchen Sie es gleich noch einmal.',
  'there is no such e-mail about the registration; only one that was tried is sent again':
    'Eine solche E-Mail zu dieser Registrierung gibt es nicht; nur eine, die versucht wurde, wird erneut gesendet.',
  'this address is not suppressed': 'Diese Adresse ist nicht gesperrt.',
  'this process has no SMTP server: set SMTP_URL as for the delivery process':
    'Dieser Prozess hat keinen Mailserver: Setzen Sie SMTP_URL wie beim Zustellprozess.',
  'the API stores the public key of this pass when it next signs or shows one; try again then':
    'Die API speichert den öffentlichen Schlüssel dieses Passes, wenn sie das nächste Mal einen signiert oder ' +
    'zeigt; versuchen Sie es dann noch einmal.',
  'the key still signs passes; rotate first':
    'Der Schlüssel signiert noch Pässe; erzeugen Sie zuerst einen neuen.',
  'the device was enrolled or revoked; create another device':
    'Das Gerät ist schon angemeldet oder gesperrt; legen Sie ein anderes an.',
  'the registration is cancelled': 'Die Registrierung ist storniert.',
  'The registration is cancelled': 'Die Registrierung ist storniert.',
  'The registration is held; confirm it first':
    'Die Registrierung ist zurückgelegt; bestätigen Sie sie zuerst.',
  'The deadline for changes has passed': 'Die Frist für Änderungen ist vorbei.',
  'the registration has no attendee yet': 'Die Registrierung hat noch keine Person.',
  'another registration has this address, and the event allows one':
    'Eine andere Registrierung hat diese Adresse, und die Veranstaltung erlaubt nur eine.',
  'The attendee was changed, and the seat belongs to the new registration':
    'Die Person wurde gewechselt, und der Platz gehört zur neuen Registrierung.',
  'nothing meets the filter, so there is nothing to do': 'Nichts passt zur Auswahl, also ist nichts zu tun.',
  'another job of the same kind has just ended; repeat the preview':
    'Ein Auftrag derselben Art ist gerade zu Ende gegangen; wiederholen Sie die Vorschau.',
  'another job has this id': 'Ein anderer Auftrag hat diese Nummer.',
  'this is the last owner; make another operator the owner first':
    'Das ist die letzte Person mit der Rolle Eigentum; geben Sie zuerst einer anderen diese Rolle.',
  'an operator of this name already exists': 'Eine Person mit diesem Namen gibt es schon.',
  'an operator with this e-mail address already exists':
    'Eine Person mit dieser E-Mail-Adresse gibt es schon.',
  'the password was changed meanwhile': 'Das Passwort wurde inzwischen geändert.',
  'You have sold all seats that you may sell of this ticket':
    'Von diesem Ticket sind alle Plätze verkauft, die hier verkauft werden dürfen.',
  'This e-mail address is already registered for the ticket':
    'Diese E-Mail-Adresse ist für das Ticket schon registriert.',
  'No such ticket under this event': 'Diese Veranstaltung hat kein solches Ticket.',
  'The ticket is not on sale': 'Dieses Ticket ist nicht im Verkauf.',
  'The ticket is sold out': 'Dieses Ticket ist ausverkauft.',
  'This e-mail address is already registered for the event':
    'Diese E-Mail-Adresse ist für die Veranstaltung schon registriert.',
  // Answers of the console.
  'Not possible': 'Nicht möglich',
  'Not found': 'Nicht gefunden',
  'Invalid input': 'Ungültige Eingabe',
  'You may not do this': 'Das dürfen Sie nicht',
  'No such page': 'Diese Seite gibt es nicht',
  'Too many requests at once': 'Zu viele Anfragen auf einmal',
  'The request is not well-formed': 'Die Anfrage ist nicht wohlgeformt',
  'The request comes from another site': 'Die Anfrage kommt von einer anderen Website',
  'Sign in, or send a valid token': 'Melden Sie sich an, oder senden Sie ein gültiges Token',
  'The console lacks a privilege': 'Der Konsole fehlt ein Recht',
  'Postgres does not answer, or not in time': 'Postgres antwortet nicht, oder nicht rechtzeitig',
  'Unexpected error': 'Unerwarteter Fehler',
};

/** Rules with a changing part. */
export const rulePatterns: readonly (readonly [rule: RegExp, text: string])[] = [
  [/^a whole number from (\d+) to (\d+)$/, 'eine ganze Zahl von $1 bis $2'],
  [/^a whole number from (\d+) to (\d+), or none$/, 'eine ganze Zahl von $1 bis $2, oder leer'],
  [/^a whole number from (\d+) to (\d+), such as (\d+)$/, 'eine ganze Zahl von $1 bis $2, zum Beispiel $3'],
  [
    /^a whole number from (\d+) to (\d+), such as (\d+), or none$/,
    'eine ganze Zahl von $1 bis $2, zum Beispiel $3, oder leer',
  ],
  [
    /^(\d+) to (\d+) characters, no control characters, no space around them$/,
    '$1 bis $2 Zeichen, ohne Steuerzeichen und ohne Leerzeichen am Rand',
  ],
  [
    /^(\d+) to (\d+) characters, no control characters, no space around them, without token:.* at the start$/,
    '$1 bis $2 Zeichen, ohne Steuerzeichen und ohne Leerzeichen am Rand, am Anfang weder token: noch ' +
      'partner: noch device:',
  ],
  [/^(\d+) to (\d+) characters, or none$/, '$1 bis $2 Zeichen, oder leer'],
  [
    /^an amount from 0 to ([\d.]+) with at most 2 decimals, such as 12\.50$/,
    'ein Betrag von 0 bis $1 mit höchstens 2 Nachkommastellen, zum Beispiel 12,50',
  ],
  [
    /^an amount from 0 to ([\d.]+) with at most 2 decimals, also in ([A-Z]{3}), such as 12\.50$/,
    'ein Betrag von 0 bis $1 mit höchstens 2 Nachkommastellen, auch in $2, zum Beispiel 12,50',
  ],
  [
    /^an amount from 0 to (\d+) without decimals, such as 1200, because the event is in ([A-Z]{3})$/,
    'ein Betrag von 0 bis $1 ohne Nachkommastellen, zum Beispiel 1200, denn die Veranstaltung ist in $2',
  ],
  [/^of events:read, .*$/, 'mindestens ein Recht aus der Liste'],
  [
    /^a guest list as CSV: a first row that names .* a row per guest, at most (\d+) rows and (\d+) bytes$/,
    'eine Gästeliste als CSV: eine erste Zeile mit den Spalten, dann eine Zeile je Gast, höchstens ' +
      '$1 Zeilen und $2 Bytes',
  ],
  [/^no such event: (\d+)$/, 'Die Veranstaltung $1 gibt es nicht.'],
  [/^event \d+ is not open to partner \d+$/, 'Die Veranstaltung ist für diesen Partner nicht offen.'],
  [/^event \d+ was not open to partner \d+$/, 'Die Veranstaltung war für diesen Partner nicht offen.'],
  [
    /^(\d+) seats would be reserved, but only (-?\d+) are left$/,
    '$1 Plätze wären reserviert, aber nur $2 sind frei.',
  ],
  [
    /^the capacity cannot be less than (\d+), the number of seats that are taken already$/,
    'Die Kapazität kann nicht kleiner sein als $1, die Zahl der vergebenen Plätze.',
  ],
  [
    /^the capacity cannot be less than (\d+): (\d+) seats are taken, and (\d+) more are reserved$/,
    'Die Kapazität kann nicht kleiner sein als $1: $2 Plätze sind vergeben und $3 weitere reserviert.',
  ],
  [
    /^the currency stays ([A-Z]{3}), because the event has registrations$/,
    'Die Währung bleibt $1, denn die Veranstaltung hat Registrierungen.',
  ],
  [
    /^gate \d+ of the same area has the entry rule "once"$/,
    'Ein Eingang desselben Bereichs lässt jede Person einmal herein.',
  ],
  [
    /^gate \d+ of the same area has the entry rule "re-entry"$/,
    'Ein Eingang desselben Bereichs lässt Personen nach dem Verlassen wieder herein.',
  ],
  [
    /^gate \d+ of the same area has the entry rule "any"$/,
    'Ein Eingang desselben Bereichs lässt Personen immer herein.',
  ],
  [
    /^the preview had (\d+) registrations, and now there are (\d+); repeat the preview$/,
    'Die Vorschau hatte $1 Registrierungen, jetzt sind es $2; prüfen Sie die neue Vorschau.',
  ],
  [
    /^the registration is (\w+); only a confirmed one has a pass$/,
    'Nur eine bestätigte Registrierung hat einen Pass.',
  ],
  [/^the registration is \w+, not (\w+)$/, 'Die Registrierung hat den falschen Zustand für diese E-Mail.'],
  [/^the job is (\w+)$/, 'Der Auftrag ist nicht in diesem Zustand ($1).'],
  [
    /^event \d+ was called off at (\S+), and no registration is left$/,
    'Die Veranstaltung ist seit $1 abgesagt, und keine Registrierung ist übrig.',
  ],
  [/^the SMTP server cannot be used \((.*)\)$/, 'Der Mailserver ist nicht erreichbar ($1).'],
  [/^the SMTP server refused the e-mail \((.*)\)$/, 'Der Mailserver hat die E-Mail abgelehnt ($1).'],
  [/^It requires (\S+) for all events\.$/, 'Dafür brauchen Sie das Recht $1 für alle Veranstaltungen.'],
  [/^It requires (\S+)\.$/, 'Dafür brauchen Sie das Recht $1.'],
  [/^It is in the log with the request id (\S+)$/, 'Er steht im Log mit der Anfrage-ID $1'],
  [
    /^found no such ticket, but (.*)$/,
    'Dieses Ticket wurde nicht gefunden, aber ein Teil der Daten fehlt ($1).',
  ],
  [/^no such ticket, but (.*)$/, 'Dieses Ticket wurde nicht gefunden, aber ein Teil der Daten fehlt ($1).'],
  [/^no such job, but (.*)$/, 'Dieser Auftrag wurde nicht gefunden, aber ein Teil der Daten fehlt ($1).'],
  [/^line (\d+): (.*)$/, 'Zeile $1: $2'],
];
