import type { Language } from '@floodgate/events';

/** Texts of e-mails, by language. */
export interface Words {
  subject: (eventName: string) => string;
  /** Shown next to the subject in a list of e-mails. */
  preview: string;
  /** Null: without a name. */
  greeting: (name: string | null) => string;
  confirmed: (eventName: string) => string;
  showThis: string;
  qrAlt: string;
  when: string;
  where: string;
  ticket: string;
  seat: string;
  passReference: string;
  calendar: string;
  pictureMissing: string;
  why: (eventName: string) => string;
  updatedSubject: (eventName: string) => string;
  updatedPreview: string;
  updated: (eventName: string) => string;
  passStaysValid: string;
  updatedCalendar: string;
}

export const WORDS: Record<Language, Words> = {
  en: {
    subject: (eventName) => `Your pass for ${eventName}`,
    preview: 'You are registered. Show the QR code at the door.',
    greeting: (name) => (name === null ? 'Hello,' : `Hello ${name},`),
    confirmed: (eventName) => `You are registered for ${eventName}.`,
    showThis: 'Show this code at the door',
    qrAlt: 'QR code of your pass',
    when: 'When',
    where: 'Where',
    ticket: 'Ticket',
    seat: 'Table or seat',
    passReference: 'Pass reference',
    calendar: 'The attached file adds the event to your calendar.',
    pictureMissing: 'No code visible? It is attached as pass.png.',
    why: (eventName) => `You get this e-mail because you were registered for ${eventName} with this address.`,
    updatedSubject: (eventName) => `New time or place: ${eventName}`,
    updatedPreview: 'Please note the new time and place. Your pass stays valid.',
    updated: (eventName) => `The time or place of ${eventName} has changed.`,
    passStaysValid: 'The pass that you already have stays valid. You need no new one.',
    updatedCalendar: 'The attached file updates the entry in your calendar.',
  },
  de: {
    subject: (eventName) => `Ihre Eintrittskarte: ${eventName}`,
    preview: 'Sie sind angemeldet. Zeigen Sie am Einlass den QR-Code.',
    greeting: (name) => (name === null ? 'Guten Tag,' : `Guten Tag ${name},`),
    confirmed: (eventName) => `Sie sind angemeldet: ${eventName}.`,
    showThis: 'Zeigen Sie diesen Code am Einlass',
    qrAlt: 'QR-Code Ihrer Eintrittskarte',
    when: 'Wann',
    where: 'Wo',
    ticket: 'Karte',
    seat: 'Tisch oder Platz',
    passReference: 'Kartennummer',
    calendar: 'Mit der angehängten Datei kommt der Termin in Ihren Kalender.',
    pictureMissing: 'Kein Code zu sehen? Er ist als pass.png angehängt.',
    why: (eventName) =>
      `Sie erhalten diese E-Mail, weil Sie mit dieser Adresse angemeldet wurden: ${eventName}.`,
    updatedSubject: (eventName) => `Neue Zeit oder neuer Ort: ${eventName}`,
    updatedPreview: 'Bitte beachten Sie die neue Zeit und den neuen Ort. Ihre Eintrittskarte bleibt gültig.',
    updated: (eventName) => `Zeit oder Ort haben sich geändert: ${eventName}.`,
    passStaysValid: 'Ihre Eintrittskarte bleibt gültig. Sie brauchen keine neue.',
    updatedCalendar: 'Die angehängte Datei aktualisiert den Termin in Ihrem Kalender.',
  },
};
