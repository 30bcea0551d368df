import type { Language } from '@floodgate/events';

const ENGLISH = {
  greeting: (name: string | null) => (name === null ? 'Hello,' : `Hello ${name},`),
  why: (eventName: string) =>
    `You get this e-mail because you were registered for ${eventName} with this address.`,
  when: 'When',
  where: 'Where',
  ticket: 'Ticket',
  seat: 'Table or seat',
  passReference: 'Pass reference',
  picture: {
    alt: 'QR code of your pass',
    caption: 'Show this code at the door',
    hint: 'No code visible? It is attached as pass.png.',
  },
  confirmation: (eventName: string) => ({
    subject: `Your pass for ${eventName}`,
    preview: 'You are registered. Show the QR code at the door.',
    news: `You are registered for ${eventName}.`,
    calendar: 'The attached file adds the event to your calendar.',
  }),
  'event-updated': (eventName: string) => ({
    subject: `New time or place: ${eventName}`,
    preview: 'Please note the new time and place. Your pass stays valid.',
    news: `The time or place of ${eventName} has changed.`,
    next: 'The pass that you already have stays valid. You need no new one.',
    calendar: 'The attached file updates the entry in your calendar.',
  }),
};

const GERMAN: typeof ENGLISH = {
  greeting: (name) => (name === null ? 'Guten Tag,' : `Guten Tag ${name},`),
  why: (eventName) =>
    `Sie erhalten diese E-Mail, weil Sie mit dieser Adresse angemeldet wurden: ${eventName}.`,
  when: 'Wann',
  where: 'Wo',
  ticket: 'Karte',
  seat: 'Tisch oder Platz',
  passReference: 'Kartennummer',
  picture: {
    alt: 'QR-Code Ihrer Eintrittskarte',
    caption: 'Zeigen Sie diesen Code am Einlass',
    hint: 'Kein Code zu sehen? Er ist als pass.png angehängt.',
  },
  confirmation: (eventName) => ({
    subject: `Ihre Eintrittskarte: ${eventName}`,
    preview: 'Sie sind angemeldet. Zeigen Sie am Einlass den QR-Code.',
    news: `Sie sind angemeldet: ${eventName}.`,
    calendar: 'Mit der angehängten Datei kommt der Termin in Ihren Kalender.',
  }),
  'event-updated': (eventName) => ({
    subject: `Neue Zeit oder neuer Ort: ${eventName}`,
    preview: 'Bitte beachten Sie die neue Zeit und den neuen Ort. Ihre Eintrittskarte bleibt gültig.',
    news: `Zeit oder Ort haben sich geändert: ${eventName}.`,
    next: 'Ihre Eintrittskarte bleibt gültig. Sie brauchen keine neue.',
    calendar: 'Die angehängte Datei aktualisiert den Termin in Ihrem Kalender.',
  }),
};

/** Texts of e-mails to attendees, by language. */
export const WORDS: Record<Language, typeof ENGLISH> = { en: ENGLISH, de: GERMAN };
